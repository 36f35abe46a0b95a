"""
unabridged: keep every message; send only what fits.
"""
from unabridged.messages import assistant, system, tool, user
