"""
Threads: what holds for one from its first record until it is deleted.
"""

__all__ = []
