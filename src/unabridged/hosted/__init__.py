"""
Hosted tools: what a provider's own items pair with, and where their words are.
"""

__all__ = []
