"""
Paths of files, checked before anything is opened.
"""

import os

from unabridged.errors import ConfigError
from unabridged.text import brief, cause

__all__ = ["path_of"]

LONGEST = 4_096  # characters; no file system takes longer ones


def path_of(path: object, who: str) -> str:
    """
    The path of a file as text; *who* wants it is in the error.

    Raises:
        ConfigError: it is no path, or none that a file can have.

    >>> from pathlib import PurePosixPath
    >>> path_of(PurePosixPath("a", "chat.db"), "SqliteStore")
    'a/chat.db'
    """
    if not isinstance(path, str | os.PathLike):
        msg = f"{who} needs the path of a file, got {type(path).__name__}"
        raise ConfigError(msg)
    try:
        name = os.fspath(path)
    except Exception as error:
        told = f"{type(error).__name__}: {cause(error)}"
        msg = f"{who} needs the path of a file, this one raised {told}"
        raise ConfigError(msg) from error
    if not isinstance(name, str):
        msg = f"{who} needs the path of a file as text, got {type(name).__name__}"
        raise ConfigError(msg)
    try:
        os.fsencode(name)
    except UnicodeEncodeError as error:
        msg = f"{who} needs the path of a file, {brief(name)} holds half a character"
        raise ConfigError(msg) from error
    if "\0" in name:
        msg = f"{who} needs the path of a file, {brief(name)} holds a NUL character"
        raise ConfigError(msg)
    if len(name) > LONGEST:
        msg = f"{who} needs the path of a file, this one has {len(name):,} characters"
        raise ConfigError(msg)

    return name
