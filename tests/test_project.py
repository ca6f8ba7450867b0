"""The project around the code: what is published is whole, and rooms keep their privacy."""

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOT_PUBLISHED = {".github", ".gitignore", ".pre-commit-config.yaml", "pyproject.toml"}  # the last is always published
TESTED_EXTRAS = ("plot", "cli", "dask", "study", "test")
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.fixture(scope="module")
def settings():
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 reads no TOML")
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def published(settings):
    """The files and folders that the source distribution has."""
    return [name.removeprefix("/") for name in settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]]


def test_what_is_published_is_there(published):
    assert [name for name in published if not (ROOT / name).exists()] == []


def test_whole_repository_is_published(published):
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a clone")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {line.partition("/")[0] for line in listed.stdout.splitlines()} - {*published} == NOT_PUBLISHED


def test_links_of_the_readme_are_absolute_once_published(settings):
    text = (ROOT / "README.md").read_text("utf-8")
    links = [link for link in LINK.findall(text) if not link.startswith(("https:", "#"))]
    assert links
    for change in settings["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(change["pattern"], change["replacement"].replace("$HFPR_VERSION", "1.0"), text)
    changed = LINK.findall(text)
    assert all(link.startswith(("https:", "#")) for link in changed)
    for link in links:
        picture = link.endswith((".png", ".svg"))
        start = "https://raw.githubusercontent.com/kfuse/kfuse" if picture else "https://github.com/kfuse/kfuse/blob"
        assert f"{start}/v1.0/{link}" in changed


def test_oldest_versions_are_those_that_are_allowed(settings):
    project = settings["project"]
    extras = project["optional-dependencies"]
    tested = [*project["dependencies"], *(each for name in TESTED_EXTRAS for each in extras[name])]
    allowed = dict(each.split(">=") for each in tested if not each.startswith("kfuse["))
    lines = (ROOT / ".ci" / "oldest.txt").read_text("utf-8").splitlines()
    pinned = dict(line.partition(" ")[0].split("==") for line in lines if not line.startswith("#"))
    assert {name for name in allowed if name not in pinned} == set()
    for name, least in allowed.items():
        assert f"{pinned[name]}.".startswith(f"{least}."), f"{name}: {least} is allowed, {pinned[name]} is tested"


def private_imports(source, room):
    """Find the private modules and names that the source of a room imports from elsewhere in kfuse."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            own = f"{name}.".startswith(f"kfuse.{room}.")
            private = any(part.startswith("_") and not part.endswith("__") for part in name.split("."))
            if name.startswith("kfuse.") and private and not own:
                yield name


def test_private_imports_are_found():
    source = (
        "from kfuse import __version__, _validation\n"
        "from kfuse.cli import _own\n"
        "from kfuse.tables.reading import _lines, read\n"
        "def later():\n    import kfuse._validation.features\n"
    )
    found = ["kfuse._validation", "kfuse.tables.reading._lines", "kfuse._validation.features"]
    assert list(private_imports(source, "cli")) == found


def test_command_line_imports_nothing_private():
    files = sorted((ROOT / "src" / "kfuse" / "cli").rglob("*.py"))
    assert files
    for file in files:
        assert list(private_imports(file.read_text("utf-8"), "cli")) == [], file.name
