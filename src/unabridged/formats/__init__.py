"""
The message forms of providers: each module loads one and dumps it.

What `load` reads, `dump` gives back key for key. A part or key without a field
of its own rides along in `extra`, under the name of the format that read it.
"""

from unabridged.formats import openai_chat

__all__ = ["openai_chat"]
