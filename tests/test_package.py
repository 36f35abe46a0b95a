"""
The package as users see it: what it exports, and what it says of itself.
"""

import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import unabridged

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", unabridged.__all__)
def test_every_public_name_can_be_imported(name):
    """
    Also those that load on first access.
    """
    assert getattr(unabridged, name) is not None


@pytest.mark.parametrize(
    "name", ["asking", "declared", "formats", "stores", "testing", "tokens", "tools"]
)
def test_modules_load_on_first_access(name):
    """
    Nobody has to import them: `import unabridged` is enough, in any order.
    """
    script = (
        f"import unabridged as u; print([n for n in u.{name}.__all__ if not hasattr(u.{name}, n)])"
    )
    done = subprocess.run(  # noqa: S603  our own script
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=False
    )

    assert ("[]\n", "") == (done.stdout, done.stderr)


def test_a_star_import_gives_all_of_it():
    """
    No name in `__all__` needs what is not installed.
    """
    names: dict[str, object] = {}
    exec("from unabridged import *", names)  # noqa: S102  it cannot stand in a function

    assert set(unabridged.__all__) <= set(names)


def test_an_unknown_name_is_an_attribute_error():
    """
    As of any module; so `hasattr` and completion work.
    """
    with pytest.raises(AttributeError, match=r"module 'unabridged' has no attribute 'Windows'"):
        _ = unabridged.Windows


def test_the_async_memory_is_the_one_of_its_module():
    """
    It loads late, as it loads asyncio.
    """
    assert unabridged.AsyncMemory is importlib.import_module("unabridged.async_memory").AsyncMemory


def test_type_checkers_see_the_types():
    """
    PEP 561: the marker is there.
    """
    assert (Path(unabridged.__file__).parent / "py.typed").is_file()


def test_has_its_version():
    """
    In one place, from which the project's own file takes it.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

    assert re.fullmatch(r"\d+\.\d+\.\d+", unabridged.__version__)
    assert "version" in project["project"]["dynamic"]
    assert Path(unabridged.__file__) == ROOT / project["tool"]["hatch"]["version"]["path"]


def test_its_dependencies_are_three():
    """
    All others stand behind an extra.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = {line.split(">=")[0] for line in project["dependencies"]}

    assert {"attrs", "tiktoken", "toolz"} == named
    assert ">=3.11" == project["requires-python"]
    assert {"pytest", "hypothesis"} <= {
        line.split(">=")[0] for line in project["optional-dependencies"]["test"]
    }
