"""The examples of docs/command_line.md, run as they are."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.command_line import call

PAGE = Path(__file__).parents[2] / "docs" / "command_line.md"
PEOPLE = """name,height,weight
Ada,1.70,61
Bo,1.82,
Cy,1.65,58
Di,NA,90
Ed,1.90,95
Fay,1.88,92
Gus,1.91,97
Hal,1.68,60
"""


def examples():
    """Yield each command of the page's console blocks with its output."""
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def plain(text):
    """Replace times, and strip spaces at line ends and blank lines around a text."""
    text = re.sub(r"\d+\.\d+ s\b", "0.70 s", text)
    text = re.sub(r'"seconds": [\d.]+', '"seconds": 0.7', text)
    return re.sub(r" +$", "", text, flags=re.MULTILINE).strip("\n")


def test_the_page_is_true(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    found = list(examples())
    assert {command.split()[1] for command, _ in found} == {"datasets", "cluster", "suggest", "plot", "report"}
    for command, output in found:
        result = call(*shlex.split(command)[1:])
        assert plain(result.stdout + result.stderr) == plain(output), command


@pytest.mark.parametrize("name", re.findall(r"\((images/.*?|[a-z_/]+\.md)\)", PAGE.read_text(encoding="utf-8")))
def test_what_the_page_links_to_is_there(name):
    assert (PAGE.parent / name).is_file()
