"""The house: which module may know what. import-linter checks the imports, this the questions."""

import ast
from pathlib import Path

import pytest

import kfuse
from kfuse.core import distances
from kfuse.core.search.base import NeighborSearch
from kfuse.core.search.choose import choose_search  # noqa: F401 - defines every kind of search

PACKAGE = Path(kfuse.__file__).parent
KINDS_AT_HOME = ("core/search/", "core/distances/")


def subclasses(kind):
    return {kind.__name__}.union(*(subclasses(sub) for sub in kind.__subclasses__()))


KINDS = subclasses(NeighborSearch) | {name for name in distances.__all__ if name.endswith("Distances")}


def names_in(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {
        n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)
    }


def questions_about_kinds(source):
    """Find the lines that ask isinstance, issubclass or type() about a kind of search or distances."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("isinstance", "issubclass")
            and names_in(node.args[1]) & KINDS
        )
        or (isinstance(node, ast.Compare) and "type" in names_in(node.left) and names_in(node) & KINDS)
    ]


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_searches_and_distances_ask_for_kinds(path):
    if path.relative_to(PACKAGE).as_posix().startswith(KINDS_AT_HOME):
        return
    assert questions_about_kinds(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "question",
    [
        "isinstance(search, KDTreeSearch)",
        "isinstance(d, (int, distances.GraphDistances))",
        "type(search) is ApproximateSearch",
        "issubclass(kind, NeighborSearch)",
    ],
)
def test_a_question_is_found(question):
    assert questions_about_kinds(f"x = 1\nif {question}:\n    pass\n") == [2]
