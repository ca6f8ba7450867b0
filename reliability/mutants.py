"""Small changes of the modules of `core/`, which cosmic-ray makes, and modules imported with such a change.

Left out are changes that are none: of annotations, and of numbers that by design decide about time and memory alone.
"""

from __future__ import annotations

import ast
import difflib
import importlib.abc
import importlib.machinery
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

CORE = Path(__file__).resolve().parent.parent / "src" / "kfuse" / "core"
NOT_USED = ("RemoveDecorator", "Variable")  # decorators compile; the others want to be told a variable
TIME_ALONE = {
    "FUSIONS_AT_A_TIME", "ENTRIES_KEPT", "ENTRIES_PER_BLOCK", "KD_TREE_DIMENSIONS", "TRIED_DIMENSIONS", "TRIED_SAMPLES",
    "STRETCHES_TRIED", "ROWS_TRIED", "FIRST_LOOK", "LONG_LOOK", "LITTLE_LONGER", "FEW_DIMENSIONS", "LEAF_SIZE",
    "GROUP_SIZE", "MAX_DEPTH", "SPLIT_COLUMNS", "SAMPLES_PER_TASK", "ROWS_AT_A_TIME", "COLUMNS_AT_A_TIME", "RUN_LENGTH",
    "SAMPLES_PER_PART", "WORK_PER_PART", "PAIRS_AT_A_TIME", "LOOKS_AT_A_TIME", "SAMPLES_AT_A_TIME",
    "COLUMNS_AT_A_GLANCE", "WORTH_KEEPING", "LONGEST_KEPT", "CROWDED", "MOST_WIDENING", "MARGIN",
}  # fmt: skip


class Place(NamedTuple):
    """Where and how to change a module."""

    module: Path
    operator: str
    occurrence: int  # of what the operator changes, in this module
    line: int

    @property
    def name(self) -> str:
        """The module's path within the core."""
        return str(self.module.relative_to(CORE))


class Mutant(NamedTuple):
    """A changed module."""

    place: Place
    code: str

    def difference(self) -> str:
        """The lines that changed."""
        before, after = self.place.module.read_text().splitlines(), self.code.splitlines()
        changed = difflib.unified_diff(before, after, lineterm="", n=0)
        return "\n".join(line for line in changed if line[:3] not in ("---", "+++"))


def places_of(module: Path) -> Iterator[Place]:
    """Find every place where a module can be changed, and how."""
    source = module.read_text()
    nodes = list(ast_nodes(get_ast(source)))
    for name in operator_names():
        if not any(part in name for part in NOT_USED):
            operator = get_operator(name)()
            positions = [position for node in nodes for position in operator.mutation_positions(node)]
            for occurrence, ((line, _), _) in enumerate(positions):
                yield Place(module, name, occurrence, line)


def mutant_at(place: Place) -> Mutant | None:
    """Make the change, unless it is none."""
    source = place.module.read_text()
    code = mutate_code(source.encode(), get_operator(place.operator)(), place.occurrence)
    return None if code is None or essence(code) in (essence(source), None) else Mutant(place, code)


def essence(source: str) -> str | None:
    """The meaning of a source, without annotations and numbers for speed; None if it has none."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    return ast.dump(Bare().visit(tree))


class Bare(ast.NodeTransformer):
    """Leaves out what makes no difference to a result."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """What a function returns is an annotation."""
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """So is the type of an argument."""
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """And that of a variable."""
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Numbers for speed change no result."""
        names = {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
        if names <= TIME_ALONE:
            node.value = ast.Constant(None)
        return self.generic_visit(node)


def body_around(place: Place) -> range:
    """The lines of the innermost function around a change."""
    functions = [node for node in ast.walk(ast.parse(place.module.read_text())) if isinstance(node, ast.FunctionDef)]
    around = [f for f in functions if f.lineno <= place.line <= (f.end_lineno or f.lineno)]
    if not around:
        return range(1, 10**6)
    innermost = max(around, key=lambda f: f.lineno)
    return range(innermost.body[0].lineno, (innermost.end_lineno or innermost.lineno) + 1)


class Swapped(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Imports a mutant in place of its module."""

    def __init__(self, mutant: Mutant):
        self.mutant = mutant
        self.name = "kfuse.core." + ".".join(mutant.place.module.relative_to(CORE).with_suffix("").parts)
        self.name = self.name.removesuffix(".__init__")

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Take over the one module."""
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.mutant.place.module, loader=self)

    def get_filename(self, fullname: str) -> str:
        """Say where the module comes from."""
        return str(self.mutant.place.module)

    def get_data(self, path: str) -> bytes:
        """Give the changed source."""
        return self.mutant.code.encode()

    def path_stats(self, path: str) -> dict[str, Any]:
        """Know nothing of the file, so that no compiled one is used or written."""
        raise OSError
