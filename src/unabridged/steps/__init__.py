"""
Steps that are plain functions: their names, and how what they return becomes changes.

A function gets the view and the context and gives the items to keep. It need
not know about tool calls or pins: what it parts or forgets is put back, with a
warning, or refused under `strict`. It may list messages too: one that equals
an item of the view is that item, one that stands where entries were dropped
stands in for them, and any other is put in.
"""

from unabridged.steps.labels import is_async, label
from unabridged.steps.settling import settled, taken

__all__ = ["is_async", "label", "settled", "taken"]
