"""Sphinx configuration; `docs/README.md` has the commands to build the pages."""

from __future__ import annotations

import os
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

import kfuse

os.environ.setdefault("MPLBACKEND", "agg")  # the gallery has no display
sys.path.insert(0, str(Path(__file__).parent))  # lets sphinx-gallery import the order of the examples

project = "kfuse"
author = "The kfuse developers"
copyright = "the kfuse developers, BSD-3-Clause"
version = release = kfuse.__version__
language = "en"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "README.md", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.md5"]
nitpicky = True
highlight_language = "default"

# Markdown
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

# API reference: the docstrings document types, so signatures stay short.
autodoc_typehints = "none"
autosummary_generate = True
templates_path = ["_templates"]
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Gallery: every script in examples/ is executed during the build, in this order. That of the cells needs scanpy, which
# is too large for the documentation alone: without it, that page shows the code only.
NOT_RUN = r"(?!cells)" if find_spec("scanpy") is None else ""
GALLERY_ORDER = (
    "plot_shapes.py",
    "plot_number_of_clusters.py",
    "plot_pipeline.py",
    "plot_memberships.py",
    "plot_outliers.py",
    "plot_new_points.py",
    "plot_report.py",
    "plot_digits.py",
    "plot_colours.py",
    "plot_text.py",
    "plot_topics.py",
    "plot_cells.py",
    "plot_places.py",
    "plot_weights.py",
    "plot_graph.py",
    "plot_million.py",
    "plot_compare_methods.py",
)


def position_in_gallery(name: str) -> tuple[int, str]:
    """Return the sort key of a script: its position in the list; other scripts come last, by name."""
    return (GALLERY_ORDER.index(name) if name in GALLERY_ORDER else len(GALLERY_ORDER), name)


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": rf"[/\\]plot_{NOT_RUN}",
    "within_subsection_order": "conf.position_in_gallery",
    "abort_on_example_error": True,
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("kfuse",),
    "reference_url": {"kfuse": None},
    "image_scrapers": ("matplotlib",),
    "image_srcset": ["2x"],
    "matplotlib_animations": False,
    "min_reported_time": 0,
    "show_memory": False,
    "write_computation_times": False,
    "ignore_repr_types": r"matplotlib|class 'list'",
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "nested_sections": False,
}

# Appearance
html_theme = "pydata_sphinx_theme"
html_title = "kfuse"
html_static_path = ["_static"]
html_css_files = ["kfuse.css"]
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "default",
    "pygments_dark_style": "github-dark-high-contrast",
}
html_context = {"default_mode": "auto"}
html_sidebars: dict[str, list[str]] = {"index": [], "glossary": []}

# Links to the documentation of other projects: the URLs are derived from the names, so the build needs no network.
OTHER_PROJECTS = {
    "matplotlib.": "https://matplotlib.org/stable/api/_as_gen/{name}.html",
    "pandas.": "https://pandas.pydata.org/docs/reference/api/{name}.html",
    "scipy.": "https://docs.scipy.org/doc/scipy/reference/generated/{name}.html",
    "sklearn.": "https://scikit-learn.org/stable/modules/generated/{name}.html",
}


def link_to_other_project(app: Sphinx, env: Any, node: Any, contnode: nodes.Node) -> nodes.reference | None:
    """Resolve a name of another project to its page in that project's documentation."""
    name = node.get("reftarget", "")
    for prefix, address in OTHER_PROJECTS.items():
        if name.startswith(prefix):
            return nodes.reference("", "", contnode, internal=False, refuri=address.format(name=name))
    return None


def adapt_links(app: Sphinx, docname: str, source: list[str]) -> None:
    """Convert HTML anchors and links to examples, which work on the repository's pages, to their Sphinx equivalents."""

    def link(match: re.Match[str]) -> str:
        page = Path(app.env.doc2path(docname)).parent / match[1]
        is_anchor = page.is_file() and f'<a id="{match[2]}">' in page.read_text("utf-8")
        return f"](#{match[2]})" if is_anchor else match[0]

    source[0] = re.sub(r'^<a id="([\w-]+)"></a>$', r"(\1)=", source[0], flags=re.MULTILINE)
    source[0] = re.sub(r"\]\(([\w/.]+\.md)#([\w-]+)\)", link, source[0])
    source[0] = re.sub(r"\]\(\.\./examples/(plot_\w+)\.py\)", r"](/gallery/\1.rst)", source[0])


def add_results(app: Sphinx, docname: str, source: list[str]) -> None:
    """Append the benchmark results that exist to the page that describes them."""
    if docname == "benchmarks":
        for name in ("benchmark", "gates"):
            if Path(app.confdir, f"../benchmarks/results/{name}.md").is_file():
                options = ":heading-offset: 1\n:relative-images:\n"
                source[0] += f"\n```{{include}} ../benchmarks/results/{name}.md\n{options}```\n"


def keep_report(app: Sphinx, exception: Exception | None) -> None:
    """Copy the report that an example writes next to the page that shows it."""
    report = Path(app.confdir, "../examples/wine.html")
    if exception is None and app.builder.format == "html" and report.is_file():
        shutil.copy(report, Path(app.outdir, "gallery", report.name))


def setup(app: Sphinx) -> None:
    """Register the event handlers."""
    app.connect("missing-reference", link_to_other_project)
    app.connect("source-read", adapt_links)
    app.connect("source-read", add_results)
    app.connect("build-finished", keep_report)
