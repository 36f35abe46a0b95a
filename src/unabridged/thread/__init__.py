"""
A thread as a memory holds it: what a memory may be asked for, and what of it must fit together.
"""

from unabridged.thread.attributes import Attributes

__all__ = ["Attributes"]
