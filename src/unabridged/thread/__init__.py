"""
A thread as a memory holds it: what a memory may be asked for, and what of it must fit together.
"""

__all__ = []
