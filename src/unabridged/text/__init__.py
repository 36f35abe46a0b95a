"""
Words and texts, and nothing that knows of messages.
"""

from unabridged.text.names import named, right_name

__all__ = ["named", "right_name"]
