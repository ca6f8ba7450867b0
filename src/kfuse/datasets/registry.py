"""The 22 data sets of the paper: names, sizes, public sources and fingerprints."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kfuse.datasets import files, lookalikes
from kfuse.datasets.files import Arrays

SUITE = "https://github.com/gagolews/clustering-data-v1/raw/v1.1.0/sipu"
SHAPES = "https://raw.githubusercontent.com/deric/clustering-benchmark/master/src/main/resources/datasets/artificial"
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
UCI_TABLES = "https://archive.ics.uci.edu/static/public"
DIGITS = "https://storage.googleapis.com/cvdf-datasets/mnist"


class RemoteFile(NamedTuple):
    """A file at a public URL, with its SHA-256 if known."""

    url: str
    sha256: str | None = None


class Source(NamedTuple):
    """Public files, and the function that reads them once downloaded."""

    files: tuple[RemoteFile, ...]  # empty if `read` downloads them itself
    read: Callable[[list[Path]], Arrays]


class Entry(NamedTuple):
    """A data set of the paper."""

    name: str  # as in the paper
    stem: str  # of the file STEM.npz in a local folder and in the cache
    group: str  # the paper's table: "synthetic" or "real"
    n_samples: int
    n_features: int
    n_clusters: int
    origin: str  # a short description
    source: Source | None = None
    make: Callable[[], Arrays] | None = None  # generates it without a download
    aliases: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str | None:
        """The result of `files.fingerprint` for the arrays; None if unknown."""
        return FINGERPRINTS.get(self.stem)


def _suite(name: str) -> Source:
    return Source(
        (RemoteFile(f"{SUITE}/{name}.data.gz"), RemoteFile(f"{SUITE}/{name}.labels0.gz")), files.read_data_and_labels
    )


def _uci(*paths: str, read: Callable[[list[Path]], Arrays]) -> Source:
    return Source(tuple(RemoteFile(f"{UCI}/{path}") for path in paths), read)


SIPU = "SIPU, in version 1.1.0 of Gagolewski's benchmark suite"
UCI_NAME = "UCI Machine Learning Repository"

ENTRIES = (
    Entry("Pole", "pole", "synthetic", 80, 2, 2, "look-alike, generated", make=lookalikes.make_pole),
    Entry("Away", "away", "synthetic", 229, 2, 3, "look-alike, generated", make=lookalikes.make_away),
    Entry("Flame", "flame", "synthetic", 240, 2, 2, SIPU, _suite("flame")),
    Entry("Zelnik1", "zelnik1", "synthetic", 299, 2, 3, "Zelnik-Manor and Perona, in Barton's clustering-benchmark",
          Source((RemoteFile(f"{SHAPES}/zelnik1.arff"),), files.read_arff)),
    Entry("Path-based", "pathbased", "synthetic", 300, 2, 3, SIPU, _suite("pathbased")),
    Entry("Spiral", "spiral", "synthetic", 312, 2, 3, SIPU, _suite("spiral")),
    Entry("Jain", "jain", "synthetic", 373, 2, 2, SIPU, _suite("jain")),
    Entry("R15", "r15", "synthetic", 600, 2, 15, SIPU, _suite("r15")),
    Entry("Aggregation", "aggregation", "synthetic", 788, 2, 7, SIPU, _suite("aggregation")),
    Entry("D31", "d31", "synthetic", 3100, 2, 31, SIPU, _suite("d31")),
    Entry("Unbalance", "unbalance", "synthetic", 6500, 2, 8, SIPU, _suite("unbalance")),
    Entry("A3", "a3", "synthetic", 7500, 2, 50, SIPU, _suite("a3")),
    Entry("Parkinson", "parkinsons", "real", 195, 22, 2, UCI_NAME,
          _uci("parkinsons/parkinsons.data", read=files.read_parkinsons)),
    Entry("Ecoli", "ecoli", "real", 336, 7, 8, UCI_NAME,
          _uci("ecoli/ecoli.data", read=files.read_named_rows)),
    Entry("LibrasMovement", "libras", "real", 360, 90, 15, UCI_NAME,
          _uci("libras/movement_libras.data", read=files.read_label_last)),
    Entry("BreastCancer", "breast_cancer", "real", 569, 30, 2, "bundled with scikit-learn",
          make=files.bundled_breast_cancer, aliases=("wdbc",)),
    Entry("Yeast", "yeast", "real", 1484, 8, 10, UCI_NAME,
          _uci("yeast/yeast.data", read=files.read_named_rows)),
    Entry("Segmentation", "segmentation", "real", 2310, 19, 7, UCI_NAME,
          _uci("image/segmentation.data", "image/segmentation.test", read=files.read_label_first),
          aliases=("imagesegmentation",)),
    Entry("Waveform", "waveform", "real", 5000, 21, 3, UCI_NAME,
          Source((RemoteFile(f"{UCI_TABLES}/107/data.csv"),), files.read_headed_table)),
    Entry("Musk", "musk", "real", 6598, 166, 2, UCI_NAME,
          Source((RemoteFile(f"{UCI_TABLES}/75/data.csv"),), files.read_headed_table), aliases=("musk2",)),
    Entry("MNIST", "mnist", "real", 10000, 784, 10, "the 10,000 test images",
          Source((
              RemoteFile(f"{DIGITS}/t10k-images-idx3-ubyte.gz",
                         "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
              RemoteFile(f"{DIGITS}/t10k-labels-idx1-ubyte.gz",
                         "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
          ), files.read_idx)),
    Entry("OlivettiFaces", "olivetti", "real", 400, 4096, 40, "fetched by scikit-learn",
          Source((), files.fetched_faces), aliases=("faces",)),
)  # fmt: skip

FINGERPRINTS = {
    "flame": "3ba5f121ef718b7d7d4d5cb9c86a927ff7b15dcba07ea27a966bb4b0c3a44e4d",
    "zelnik1": "8a120fa99239073a0907409b304e321e74711cac55462898631dc5acb952d10b",
    "pathbased": "be0a2a8730b458fe0190ec14832425683cb47b00dfbddb42efa103488cc7c2eb",
    "spiral": "f94303c544f209b4fe15e73d81a14c6d7492b33153fc27617b26d181bf8abeb3",
    "jain": "375d82cac53310960df566314b7a71fefa3953a3ac80925d9a6e501959aa55a9",
    "r15": "a3a640362222c60fa8cfae1fb3cf797c2944136b44a88181c30bef3c2013c8ca",
    "aggregation": "da34e35de501574e94f7b19f4920f5dac46be7b1e8b9f94dd73711a624fe5b84",
    "d31": "3a1388cd5471d356ce6816948013c8c3d62e20f4a55131a52d6ee4ffc0e79708",
    "unbalance": "9dc393b83f68c9474f781d826e9e3ec5e378165ab333901be1b77efb54855a4e",
    "a3": "d172ce4e527b5653c203af53c935a7a233f6110d3fc011b8e449b168fa7c9be1",
    "parkinsons": "dd341fdc8687b96f8b68ed2f98cbbedd1e0c9e722f5630df1247e51ac1b0097e",
    "ecoli": "36d1790655e33fac75477aae50e2942e8c2a6b0a3d0002d6dd604b2101756f0e",
    "libras": "4ce1d61cb8be52ba8d4d23641d0589537d32f76a435d485f7d298592294a44ea",
    "breast_cancer": "fdde0df328e643a9ed5b77ec4200a43a3dfb128514d7c76b75d110c0607bc2af",
    "yeast": "03038636b0960544dbf84c8bed4b2a1f4b78f813d6ebab0d2195577dd510fe5d",
    "segmentation": "80f86a798ed02ed3f4f01d29cbe900280dfaceec009061f6547e0623d2549ffe",
    "waveform": "7e2b7094cca94129b8e649b53ce9ab98703f3c71b89a3e018055ef21e1725f25",
    "musk": "ee171cdfc3017b053c3bf5ab226a7f9f7f6c3045189a6461ef5016ee9883ffff",
    "mnist": "3754d10aad8fda262713522b41c12753b10edf5570f39d2e08faaa10a06fcd9b",
    "olivetti": "3d1dff0625ec6a032afce091143d27936b0d67998e4802ab4afcfe1fc8a83bd8",
}


def find(name: str) -> Entry:
    """Find a data set by any common spelling of its name.

    Raises
    ------
    ValueError
        If there is none; the message lists the known names.
    """
    spellings = {_plain(known): entry for entry in ENTRIES for known in (entry.name, entry.stem, *entry.aliases)}
    wanted = _plain(name)
    if wanted in spellings:
        return spellings[wanted]
    near = difflib.get_close_matches(wanted, spellings, n=1)
    hint = f" Did you mean {spellings[near[0]].name!r}?" if near else ""
    raise ValueError(f"Unknown data set {name!r}.{hint} Known data sets: {', '.join(entry.name for entry in ENTRIES)}.")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", str(name).lower())
