"""The documentation builds without a warning, and what it shows runs.

The examples that take long, `SLOW`, run when the pages are built with their gallery, not here.
"""

import doctest
import importlib.util
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs, make_moons
from sklearn.neighbors import kneighbors_graph

from kfuse import KFuse

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
SLOW = {"plot_compare_methods", "plot_million"}
TOOLS = (
    "sphinx",
    "myst_parser",
    "sphinx_gallery",
    "numpydoc",
    "pydata_sphinx_theme",
    "sphinx_design",
    "sphinx_copybutton",
)
BLOCK = re.compile(r"^```(?:python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if BLOCK.search(page.read_text("utf-8"))
]


@pytest.fixture
def quiet_folder(tmp_path, monkeypatch):
    """A folder to write into, and pictures without a window."""
    plt = pytest.importorskip("matplotlib.pyplot", reason="the examples need matplotlib")
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    plt.close("all")


def test_pages_build_without_a_warning(tmp_path):
    missing = [name for name in TOOLS if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"no {', '.join(missing)}: pip install -e '.[docs]'")
    # A copy, since the gallery is written beside the pages; without running the examples, which takes a minute.
    for folder in ("docs", "examples", "src"):
        shutil.copytree(
            ROOT / folder,
            tmp_path / folder,
            ignore=shutil.ignore_patterns("_build", "generated", "gallery", "__pycache__"),
        )
    for file in ("CHANGELOG.md", "benchmarks/README.md"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    options = ["-W", "--keep-going", "-q", "-D", "plot_gallery=0"]
    build = [sys.executable, "-m", "sphinx", *options, str(tmp_path / "docs"), str(tmp_path / "html")]
    done = subprocess.run(build, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    for page in ("index", "how_it_works", "glossary", "study/README", "benchmarks", "api/kfuse", "gallery/plot_shapes"):
        assert (tmp_path / "html" / f"{page}.html").is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_of_a_page_runs_and_shows_what_it_says(page, quiet_folder):
    names = {}
    for number, code in enumerate(BLOCK.findall(page.read_text("utf-8")), start=1):
        where = f"{page.name}, block {number}"
        if not code.startswith(">>>"):
            exec(compile(code, where, "exec"), names)
            continue
        shown = doctest.DocTestParser().get_doctest(code, names, where, str(page), 0)
        report = []
        doctest.DocTestRunner().run(shown, out=report.append, clear_globs=False)
        names = shown.globs
        assert not report, "".join(report)


@pytest.mark.filterwarnings("ignore:The set_bad function:PendingDeprecationWarning")  # which scanpy calls
@pytest.mark.parametrize(
    "script", [script for script in EXAMPLES if script.stem not in SLOW], ids=lambda script: script.stem
)
def test_example_runs(script, quiet_folder):
    if script.stem == "plot_cells":
        pytest.importorskip("scanpy", reason="this example needs scanpy: .ci/clients runs it")
    for file in script.parent.glob("suggestions.*"):  # which an example reads from the folder it is run in
        shutil.copy(file, quiet_folder)
    runpy.run_path(str(script))


DOCUMENTS = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "benchmarks" / "README.md"]


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_work_on_the_pages_of_the_repository(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        file, _, anchor = link.partition("#")
        if not file.startswith("https:"):
            target = page.parent / file if file else page
            assert target.exists(), f"{page.name} links to {link}"
            assert not anchor or anchor in _anchors(target), f"{page.name} links to {link}"


def _anchors(page):
    """The anchors that a page has by its headings and by HTML."""
    text = page.read_text("utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([\w-]+)">', text))


def test_gallery_has_an_order_for_every_example():
    settings = (ROOT / "docs" / "conf.py").read_text("utf-8")
    listed = re.findall(r'^    "(plot_\w+\.py)",$', settings, re.MULTILINE)
    assert sorted(listed) == [script.name for script in EXAMPLES]
    assert {script.stem for script in EXAMPLES} > SLOW


def test_every_equation_is_where_the_table_says():
    page = ROOT / "docs" / "equations.md"
    places = re.findall(r"\[`([\w/]+\.py)`\]\((\S+)\) `([\w.]+)`", page.read_text("utf-8"))
    assert len(places) > 30
    for shown, file, name in places:
        assert file == f"../src/kfuse/core/{shown}"
        source = (page.parent / file).read_text("utf-8")
        for part in name.split("."):
            assert re.search(rf"^ *(def|class) {part}\b", source, re.MULTILINE), f"{name} is not in {file}"


MOONS, _ = make_moons(600, noise=0.05, random_state=0)
WITH_GAP = np.where(np.arange(1200).reshape(600, 2) == 7, np.nan, MOONS)
PILES = np.round(make_blobs(2000, centers=5, random_state=0)[0])
IN_NOISE = np.vstack(
    [make_moons(500, noise=0.08, random_state=0)[0], np.random.default_rng(0).uniform(-2, 3, (100, 2))]
)
MISTAKES = {
    "NaN": lambda: KFuse().fit(WITH_GAP),
    "one column": lambda: KFuse().fit(MOONS[:, 0]),
    "too many clusters": lambda: KFuse(7).fit(MOONS[:5]),
    "duplicates": lambda: KFuse(3).fit(np.ones((5, 2))),
    "auto as printed": lambda: KFuse(fusion="paper").fit(MOONS),
    "sparse features": lambda: KFuse().fit(csr_array(MOONS)),
    "features as distances": lambda: KFuse(metric="precomputed").fit(MOONS[:500]),
    "tiny graph": lambda: KFuse(metric="precomputed").fit(kneighbors_graph(MOONS, 5, mode="distance")),
    "small graph": lambda: KFuse(metric="precomputed").fit(kneighbors_graph(MOONS, 10, mode="distance")),
    "graph of duplicates": lambda: KFuse(metric="precomputed").fit(kneighbors_graph(PILES, 64, mode="distance")),
    "similarities": lambda: KFuse(metric="precomputed").fit(np.eye(9)),
    "noise alone": lambda: KFuse(12, outliers="label").fit(IN_NOISE),
    "tree with fewer leaves": lambda: KFuse(2).fit(MOONS[:300]).tree_.cut(301),
    "tree of another metric": lambda: KFuse(neighbors="kd_tree", metric="manhattan").fit(MOONS),
    "fewer columns": lambda: KFuse(2).fit(MOONS).predict(MOONS[:, :1]),
    "no fit": lambda: KFuse().predict(MOONS),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_errors_are_those_of_the_page(mistake):
    page = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
    messages = [message.removesuffix(" ...") for message in re.findall(r"^\| `(.+?)`", page, re.MULTILINE)]
    with pytest.raises((TypeError, ValueError, UserWarning)) as caught:
        MISTAKES[mistake]()
    assert any(str(caught.value).startswith(message) for message in messages), str(caught.value)


def test_every_part_of_hdbscan_has_its_counterpart():
    page = (ROOT / "docs" / "coming_from_hdbscan.md").read_text("utf-8")
    model = HDBSCAN(min_cluster_size=10, store_centers="both", copy=True).fit(make_moons(200, random_state=0)[0])
    fitted = {name for name in vars(model) if not name.startswith("_")}
    assert "probabilities_" in fitted
    assert "labels_" in fitted
    assert [name for name in sorted(fitted | set(model.get_params())) if f"`{name}" not in page] == []
