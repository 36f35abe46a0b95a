"""
The shape of the tree: who may import whom, what importing loads, and what every module has.
"""

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import attrs
import pytest

import unabridged
from unabridged.errors import UnabridgedError

SOURCE = Path(unabridged.__file__).parent

# A module imports only what stands above it. Of a package (`.*`) the modules import each other as
# they like, without going round in circles.
LAYERS = (
    "errors",
    "text.*",
    "damage",
    "json_values",
    "parts",
    "hosted.*",
    "messages",
    "handles",
    "spans",
    "records",
    "log.*",
    "originals",
    "links",
    "ledger",
    "states",
    "items",
    "starts",
    "sums",
    "units",
    "view",
    "views",
    "codec_messages",
    "codec_parts",
    "codec",
    "codec_states",
    "tokens.*",
    "overrun",
    "must",
    "cutting.*",
    "suffixes",
    "cuts",
    "gains",
    "sharing",
    "writable",
    "usage",
    "broken",
    "explained",
    "trim_result",
    "results",
    "differences",
    "graphemes",
    "finding",
    "clipping",
    "tool_loops",
    "transcripts",
    "contract",
    "steps.*",
    "pipeline",
    "running",
    "telling",
    "trees",
    "growing",
    "summaries",
    "options",
    "summary.*",
    "clips",
    "clearing",
    "fitting",
    "strategies.*",
    "declared",
    "formats.*",
    "framing",
    "asked",
    "endpoints",
    "stores.*",
    "viewing",
    "work",
    "thread.*",
    "counting",
    "breakers",
    "background",
    "deciding",
    "fetching",
    "history",
    "snapshots",
    "reading",
    "retrieving",
    "keeping",
    "settings",
    "memory",
    "async_memory",
    "recalling",
    "tools",
    "asking.*",
    "testing.*",
    "unabridged",
)

# What the order alone does not forbid: who, whom, and who all the same may.
APART = (
    ("strategies.*", ("strategies.*", "stores.*", "memory", "async_memory"), ("strategies",)),
    ("stores.*", ("strategies.*", "pipeline", "results"), ()),
    ("tokens.*", ("strategies.*",), ()),
    ("formats.*", ("strategies.*", "stores.*", "view", "views", "pipeline", "results"), ()),
)

# What only our own modules call: docstrings are enough there.
INSIDE = frozenset(
    {
        *("codec_messages", "codec_parts", "codec_states", "cuts", "damage", "deciding"),
        *("cutting.openings",),
        *(
            "explained",
            "hosted.table",
            "ledger",
            "links",
            "must",
            "overrun",
            "parts",
            "reading",
            "settings",
            "states",
        ),
        *("steps.labels", "steps.listing", "steps.settling", "steps.stand_ins"),
        *("thread.deletions", "units", "viewing", "work", "writable"),
        *(
            "background.failed",
            "breakers",
            "cutting.summaries_stay",
            "asked",
            "broken",
            "starts",
            "sums",
            "suffixes",
            "counting",
            "endpoints",
            "fitting",
            "framing",
            "gains",
            "growing",
            "sharing",
            "summaries",
            "telling",
            "trees",
        ),
        *("clips.as_clips", "clips.clips_only", "options.as_names", "options.names_only"),
        *("clips.free_blocks", "clips.known_of", "clips.may_change", "clips.noted"),
        *("fetching.fetch", "fetching.find"),
        *("options.at_least_option", "tokens.texts.fast", "tokens.windows.window_of"),
        *("stores.sqlite_file", "stores.sqlite_rows", "stores.sqlite_schema"),
        *("stores.held", "stores.sqlite_threads", "stores.writing"),
        *("stores.forking", "stores.sqlite_erasing", "stores.sqlite_opening"),
        *("history.history", "testing.store_forks", "testing.store_incarnations"),
        *("items.Unloaded", "items.add_start", "items.block_starts"),
        *("json_values.json_text", "json_values.sound_text", "keeping.Keeper", "retrieving"),
        *("options.as_share", "options.choice", "options.cut_result", "options.down_to_option"),
        *("options.newest_option", "options.one_of"),
        *(
            "options.between",
            "options.flag",
            "options.function",
            "options.last_cut",
            "options.plural",
            "options.role_name",
        ),
        *("options.part_of_one", "options.share_of", "options.words_only"),
        *("pipeline.outcome_of", "pipeline.performed", "pipeline.step_of", "records.stepped"),
        *("results.same_ties", "running.answering", "running.checked", "running.flow"),
        *("running.adrive", "running.drive", "running.settled_answer", "running.window_of"),
    }
)

LONGEST = 400
REASON = "the length of this module"


class Import(NamedTuple):
    """
    A line of a module that imports another one of ours.
    """

    who: str
    whom: str
    line: int

    def __str__(self) -> str:
        return f"{self.who}:{self.line} imports {self.whom}"


def paths() -> dict[str, Path]:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__") or "unabridged"] = path

    return found


MODULES = paths()


def in_layer(module: str, layer: str) -> bool:
    """
    Whether a line of the table speaks of the module; `stores.*` is the package and all in it.
    """
    package = layer.removesuffix(".*")
    return module == package or (layer.endswith(".*") and module.startswith(f"{package}."))


def place(module: str) -> int:
    return next(number for number, layer in enumerate(LAYERS) if in_layer(module, layer))


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """
    All nodes but those for type checkers alone; what functions import counts too.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from nodes(node)


@cache
def imports(module: str) -> tuple[Import, ...]:
    found = []
    for node in nodes(ast.parse(MODULES[module].read_text("utf-8"))):
        match node:
            case ast.Import(names):
                asked = [alias.name for alias in names]
            case ast.ImportFrom(source, names, level):
                assert level == 0, f"{module}:{node.lineno} imports relatively"
                asked = [
                    f"{source}.{alias.name}" if f"{source}.{alias.name}" in known() else source
                    for alias in names
                ]
            case _:
                continue
        ours = (name for name in asked if name.split(".")[0] == "unabridged")
        found += [
            Import(module, name.removeprefix("unabridged."), node.lineno)
            for name in dict.fromkeys(ours)
        ]

    return tuple(found)


def known() -> frozenset[str]:
    return frozenset(f"unabridged.{name}" for name in MODULES)


def every_import() -> Iterator[Import]:
    for module in MODULES:
        yield from imports(module)


def doc_of(thing: object) -> str:
    """
    The docstring that stands at the thing itself, not one it inherited.
    """
    return (
        inspect.cleandoc(vars(thing).get("__doc__") or "")
        if inspect.isclass(thing)
        else (inspect.getdoc(thing) or "")
    )


def public() -> Iterator[tuple[str, str, object]]:
    """
    The classes and functions in each module's `__all__`, where they are defined.
    """
    for name in MODULES:
        path = "unabridged" if name == "unabridged" else f"unabridged.{name}"
        module = importlib.import_module(path)
        for exported in getattr(module, "__all__", ()):
            thing = getattr(module, exported)
            made_here = getattr(thing, "__module__", "") == path
            if made_here and (inspect.isclass(thing) or inspect.isroutine(thing)):
                yield name, exported, thing


class TestImports:
    def test_every_module_has_one_place_in_the_table(self):
        """
        A new module is put into the table, a line without a module is taken out.
        """
        placed = {m: [layer for layer in LAYERS if in_layer(m, layer)] for m in MODULES}

        assert {} == {module: layers for module, layers in placed.items() if len(layers) != 1}
        assert [] == [layer for layer in LAYERS if not any(in_layer(m, layer) for m in MODULES)]

    def test_a_module_imports_only_what_stands_above_it(self):
        """
        Also inside functions; only what is imported for type checkers may point down.
        """
        assert [] == [
            str(line)
            for line in every_import()
            if place(line.whom) > place(line.who)
            or (place(line.whom) == place(line.who) and not LAYERS[place(line.who)].endswith(".*"))
        ]

    @pytest.mark.parametrize(("who", "whom", "except_for"), APART, ids=[rule[0] for rule in APART])
    def test_what_is_apart_stays_apart(self, who, whom, except_for):
        """
        Strategies know neither each other nor stores, and stores no strategies.
        """
        assert [] == [
            str(line)
            for line in every_import()
            if in_layer(line.who, who)
            and line.who not in except_for
            and any(in_layer(line.whom, layer) for layer in whom)
        ]

    def test_no_imports_go_in_circles(self):
        """
        Not even within a package.
        """
        graph = {module: {line.whom for line in imports(module)} for module in MODULES}

        assert len(MODULES) == len(list(TopologicalSorter(graph).static_order()))


class TestLoading:
    def test_importing_the_library_loads_no_more_than_it_needs(self):
        """
        No database driver, event loop, tokenizer, vocabulary or framework: attrs and toolz at most.
        """
        script = (
            "import sys, json; before = set(sys.modules); import unabridged\n"
            "from unabridged.tokens import vocabulary\n"
            "loaded = sorted({name.split('.')[0] for name in set(sys.modules) - before})\n"
            "print(json.dumps([loaded, vocabulary._built.cache_info().currsize]))"
        )
        done = subprocess.run(  # noqa: S603  our own script
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        loaded, vocabularies = json.loads(done.stdout)

        assert {"unabridged", "attr", "attrs", "toolz"} >= set(loaded) - sys.stdlib_module_names
        assert set() == {"asyncio", "sqlite3", "tomllib", "unittest"} & set(loaded)
        assert 0 == vocabularies


@pytest.mark.parametrize("module", MODULES)
class TestModules:
    def test_names_what_is_public(self, module):
        """
        `__all__` is there, without doubles, sorted as text: capitals first.
        """
        tree = ast.parse(MODULES[module].read_text("utf-8"))
        lists = [
            ast.literal_eval(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        ]

        assert [sorted(set(names), key=by_kind) for names in lists] == lists
        assert 1 == len(lists)

    def test_is_named_for_its_idea(self, module):
        """
        What has no other name than "utils" or "base" is no idea.
        """
        assert module.rsplit(".", maxsplit=1)[-1] not in {"base", "common", "helpers", "utils"}


def by_kind(name: str) -> tuple[int, str]:
    """
    The order of `__all__` that ruff keeps: CONSTANTS, Classes, functions.
    """
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2, name)


def test_modules_are_short_or_say_why_not():
    """
    Over 400 lines, a docstring says what makes "the length of this module".
    """
    texts = {module: path.read_text("utf-8") for module, path in MODULES.items()}
    docs = {module: ast.get_docstring(ast.parse(text)) or "" for module, text in texts.items()}
    lengths = {module: len(text.splitlines()) for module, text in texts.items()}

    assert {} == {
        module: length
        for module, length in lengths.items()
        if length > LONGEST and REASON not in " ".join(docs[module].split())
    }
    assert [] == [module for module, doc in docs.items() if not doc]


class TestDocstrings:
    def test_every_public_name_has_one(self):
        """
        Each class and function that a module exports says what it is.
        """
        assert [] == [f"{module}.{name}" for module, name, thing in public() if not doc_of(thing)]

    def test_every_attribute_has_one(self):
        """
        Each method and property; of an exported class each field is in the docstring of the class.

        A cached property of a class with slots keeps none, so there it is a property that caches.
        """
        classes = {thing for _, _, thing in public() if inspect.isclass(thing)}
        exported = {getattr(unabridged, name) for name in unabridged.__all__}
        bare = [
            f"{kind.__module__}.{kind.__qualname__}.{name}"
            for kind in classes
            if not issubclass(kind, BaseException)
            for name in dir(kind)
            if not name.startswith("_") and not has_words(kind, name, is_exported=kind in exported)
        ]

        assert [] == sorted(bare)

    def test_every_public_name_has_an_example(self):
        """
        In its docstring, in one of its methods', or in its module's where that names it.

        Errors need none, nor do Protocols, whose examples are what follows them.
        """
        names = {f"{module}.{name}" for module, name, _ in public()}
        assert set() == INSIDE - names - {module for module, _, _ in public()}
        assert [] == [
            f"{module}.{name}"
            for module, name, thing in public()
            if not {module, f"{module}.{name}"} & INSIDE
            and not is_excused(thing)
            and not has_example(thing, name)
        ]


def has_words(kind: type, name: str, *, is_exported: bool) -> bool:
    """
    Whether an attribute is told of: by itself, or if it is a field, by its class.
    """
    value = inspect.getattr_static(kind, name)
    inner = getattr(value, "__func__", value)
    if not inspect.isdatadescriptor(inner) or isinstance(inner, property):
        is_told = callable(inner) or isinstance(inner, property)
        return bool(inner.__doc__) if is_told else True
    told = " ".join(each.__doc__ or "" for each in kind.__mro__ if each is not object)
    fields = {field.name for field in attrs.fields(kind)} if attrs.has(kind) else {name}
    if not is_exported:
        return name in fields
    named = re.search(rf"\*{name}\*|`{name}[`=]|\b{name}[=:]", told)

    return named is not None and name in fields


def is_excused(thing: object) -> bool:
    return inspect.isclass(thing) and (
        issubclass(thing, UnabridgedError) or getattr(thing, "_is_protocol", False)
    )


def has_example(thing: object, name: str) -> bool:
    docs = [doc_of(thing)]
    if inspect.isclass(thing):
        docs += [inspect.getdoc(member) or "" for member in vars(thing).values()]
    told = sys.modules[thing.__module__].__doc__ or ""
    if name in "".join(line for line in told.splitlines() if line.startswith((">>>", "..."))):
        return True

    return any(">>>" in doc for doc in docs)
