"""What sets a cluster apart: every sentence and every number of it is computed again from the data."""

import datetime
import itertools
import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kfuse
from kfuse import KFuse
from kfuse.description import columns, describe_labels, phrases, sentences
from kfuse.description.clusters import LEAST_EFFECT, MOST_NAMED
from tests.strategies import SEEDS, repeats

DAY = datetime.datetime(2024, 2, 28, 12, 30)
WORDS = ["red", "green", "blue", "black", "white"]
MAKERS = {
    "integers": lambda rng, n: rng.integers(-5, 3000, n).tolist(),
    "codes": lambda rng, n: rng.integers(0, 4, n).tolist(),
    "floats": lambda rng, n: rng.normal(0, 10.0 ** rng.integers(-9, 9), n).tolist(),
    "near": lambda rng, n: (1000 + rng.integers(0, 9, n) * 1e-7).tolist(),
    "huge": lambda rng, n: (rng.integers(-3, 9, n) * 1e200).tolist(),
    "yes": lambda rng, n: rng.integers(0, 2, n).astype(bool).tolist(),
    "days": lambda rng, n: [(DAY + datetime.timedelta(int(d))).date() for d in rng.integers(0, 500, n)],
    "moments": lambda rng, n: [DAY + datetime.timedelta(0, int(s)) for s in rng.integers(0, 9999, n)],
    "spans": lambda rng, n: [datetime.timedelta(0, int(s)) for s in rng.integers(0, 9999, n)],
    "words": lambda rng, n: rng.choice(WORDS, n).tolist(),
    "names": lambda rng, n: [f"name {i}" for i in range(n)],
    "constant": lambda rng, n: [7.5] * n,
    "nothing": lambda rng, n: [None] * n,
}
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": lambda table: pl.DataFrame(table, strict=False),
    "array": lambda table: np.array([*zip(*table.values(), strict=True)], dtype=object).reshape(-1, len(table)),
}


@st.composite
def tables(draw):
    """A table of all kinds of columns, with missing values, and the labels of its rows."""
    rng = np.random.default_rng(draw(SEEDS))
    n = draw(st.integers(1, 40))
    labels = rng.integers(draw(st.sampled_from([-1, 0])), draw(st.integers(1, 4)), n)
    table = {}
    for kind in draw(st.lists(st.sampled_from([*MAKERS]), min_size=1, max_size=6, unique=True)):
        column = MAKERS[kind](rng, n)
        if draw(st.booleans()) and kind not in ("names", "constant"):  # let the labels show in the column
            column = [column[int(np.flatnonzero(labels == label)[0])] if label == labels[0] else value
                      for value, label in zip(column, labels, strict=True)]  # fmt: skip
        gaps = rng.random(n) < draw(st.sampled_from([0, 0, 0.3]))
        table[kind] = [None if gap else value for value, gap in zip(column, gaps, strict=True)]
    return table, labels


def parsed(text, kind):
    """The value that a text in a sentence stands for."""
    if kind in ("days", "moments"):
        found = datetime.datetime.fromisoformat(text)
        return found.date() if kind == "days" else found
    if kind == "spans":
        days, _, clock = text.rpartition(", ")
        hours, minutes, seconds = map(int, clock.split(":"))
        return datetime.timedelta(int(days.split()[0]) if days else 0, 3600 * hours + 60 * minutes + seconds)
    return float(text.replace(",", ""))


def picked_by(text, kind, values):
    """Which values a rule in words picks, and what it says about the others."""
    words, _, said = text.removesuffix(")").rpartition(" (")
    rule = words.removeprefix(f"{kind} ")
    if rule == "missing":
        return [value is None for value in values], said
    if kind in ("yes", "words", "names"):
        chosen = rule.removeprefix("= ").split(" or ")
        return [str(value) in chosen for value in values], said
    return [value is not None and in_range(rule, kind, value) for value in values], said


def in_range(words, kind, value):
    if words.startswith("= "):
        return value == parsed(words[2:], kind)
    low, high = words.split(" to ")
    return parsed(low, kind) <= value <= parsed(high, kind)


def percent(share):
    rounded = round(100 * share)
    return "under 1 %" if rounded == 0 < share else "over 99 %" if rounded == 100 and share < 1 else f"{rounded} %"


def best_effect(kind, values, inside):
    """The largest difference of shares that a rule of the allowed form has, over all such rules."""

    def difference(picked):
        return sum(p for p, i in zip(picked, inside, strict=True) if i) / sum(inside) - sum(
            p for p, i in zip(picked, inside, strict=True) if not i
        ) / (len(inside) - sum(inside))

    there = sorted({value for value in values if value is not None})
    rules = [[value is None for value in values]]
    if kind in ("yes", "words", "names"):
        there = [value for value in there if values.count(value) > 1]
        sets = itertools.chain.from_iterable(itertools.combinations(there, size) for size in (1, 2, 3))
        rules += [[value in chosen for value in values] for chosen in sets]
    else:
        pairs = itertools.combinations_with_replacement(there, 2)
        rules += [[value is not None and low <= value <= high for value in values] for low, high in pairs]
    return max(map(difference, rules))


def check(found, table, labels):
    """Compute everything that a description says again, from the values and the labels alone."""
    groups = sorted(set(labels.tolist()), key=lambda label: (label < 0, label))
    assert [one.label for one in found] == groups
    for one in found:
        inside = (labels == one.label).tolist()
        assert one.size == sum(inside)
        effects = [each.effect for each in one.findings]
        assert effects == sorted(effects, reverse=True)
        told = {each.column.name for each in one.findings}
        for kind, values in table.items():
            if kind not in told and len(groups) > 1:
                assert best_effect(kind, values, inside) <= 1e-12 or len(set(values)) == 1
        for each in one.findings:
            check_finding(each, table[each.column.name], inside)
        check_sentence(one)


def check_finding(each, values, inside):
    kind = each.column.name
    picked, said = picked_by(each.text, kind, values)
    share = np.mean([p for p, i in zip(picked, inside, strict=True) if i])
    others = np.mean([p for p, i in zip(picked, inside, strict=True) if not i])
    assert (each.share, each.share_of_others) == (pytest.approx(share), pytest.approx(others))
    assert each.effect == pytest.approx(share - others)
    best = best_effect(kind, values, inside)
    if kind in ("yes", "words", "names"):
        assert best - 2 * 0.05 <= each.effect <= best + 1e-12  # a value that adds little is left out
    else:
        assert each.effect == pytest.approx(best)
    if not said.startswith("all others "):
        assert said == f"{percent(share)}, others {percent(others)}"
        return
    assert (share, others) == (1, 0)
    ranges = said.removeprefix("all others ").split(" or ")
    outside = [value for value, i in zip(values, inside, strict=True) if not i]
    assert all(any(in_range(words, kind, value) for words in ranges) for value in outside)
    within = [value for value, i in zip(values, inside, strict=True) if i]
    assert not any(in_range(words, kind, value) for words in ranges for value in within)


def check_sentence(one):
    size, _, rest = one.sentence.removesuffix(".").partition(": ")
    assert size == f"{one.size:,} row{'s' * (one.size != 1)}{' of noise' * (one.label == -1)}"
    named = [each.text for each in one.findings if each.effect >= LEAST_EFFECT and each.beyond_chance][:MOST_NAMED]
    if named:
        assert rest == ", ".join(named)
    else:
        them = "it" if one.size == 1 else "them"
        assert rest == ("the whole table" if one.size == one.n_rows else f"no single column sets {them} apart")


@settings(max_examples=repeats(60))
@given(tables(), st.sampled_from([*FRAMES]))
def test_everything_said_is_true(generated, kind):
    table, labels = generated
    frame = FRAMES[kind](table)
    check(describe_labels(columns.read(frame, list(table)), labels), table, labels)


@settings(max_examples=repeats(30))
@given(tables(), SEEDS)
def test_the_order_of_rows_does_not_matter(generated, seed):
    table, labels = generated
    order = np.random.default_rng(seed).permutation(labels.size)
    shuffled = {kind: [values[i] for i in order] for kind, values in table.items()}
    plain = describe_labels(columns.read(pd.DataFrame(table)), labels)
    other = describe_labels(columns.read(pd.DataFrame(shuffled)), labels[order])
    assert [one.sentence for one in plain] == [one.sentence for one in other]


@pytest.mark.parametrize("size", [1, 2, 5, 30, 200])
def test_a_random_group_is_hardly_ever_set_apart(size):
    rng = np.random.default_rng(size)
    named = 0
    for _ in range(40):
        frame = pd.DataFrame(rng.normal(size=(1000, 8))).assign(word=rng.choice(WORDS, 1000))
        labels = (np.arange(1000) < size).astype(int)
        named += any(
            each.beyond_chance for one in describe_labels(columns.read(frame), labels) for each in one.findings
        )
    assert named <= 3


@pytest.mark.parametrize("size", [3, 10, 300])
def test_a_small_group_far_away_is_named(size):
    x = np.concatenate([np.arange(1000.0), 5000 + np.arange(size)])
    labels = (np.arange(x.size) >= 1000).astype(int)
    (_, far) = describe_labels(columns.read(x[:, None], ["x"]), labels)
    assert far.sentence == f"{size} rows: x 5,000 to {5000 + size - 1:,} (all others 0 to 999)."


def test_says_what_the_flights_to_honolulu_have():
    frame = pd.DataFrame(
        {"distance": [80, 1500, 2586] * 40 + [4963, 4983] * 20, "dest": ["IAD", "DEN", "SFO"] * 40 + ["HNL"] * 40}
    )
    labels = (frame["distance"] > 4000).to_numpy().astype(int)
    far = describe_labels(columns.read(frame), labels)[1]
    assert far.sentence == (
        "40 rows: distance 4,963 to 4,983 (all others 80 to 2,586), dest = HNL (100 %, others 0 %)."
    )


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1.23456, 1.5, 9.87654, 20.0], "x 1.23 to 1.5 (all others 9.87 to 20)"),
        ([4958.4, 4958.5, 4958.6, 4962.7], "x 4,958.4 to 4,958.5 (all others 4,958.6 to 4,962.7)"),
        ([1990, 1991, 2000, 2001], "x 1,990 to 1,991 (all others 2,000 to 2,001)"),
        ([1e-9, 2.5e-9, 1.0, 2.0], "x 1e-9 to 2.5e-9 (all others 1 to 2)"),
    ],
)
def test_numbers_are_as_short_as_they_may_be(values, text):
    labels = np.repeat([0, 1], 2)
    found = describe_labels(columns.read(np.array(values)[:, None], ["x"]), labels)[0].findings[0].text
    assert found == text


def test_years_have_no_thousands():
    found = describe_labels(columns.read(pd.DataFrame({"Year": [1990, 1991, 2001]})), np.array([0, 0, 1]))
    assert found[0].findings[0].text == "Year 1990 to 1991 (all others = 2001)"


@pytest.mark.parametrize(("part", "whole", "text"), [
    (0, 9, "0 %"), (1, 1000, "under 1 %"), (1, 3, "33 %"), (999, 1000, "over 99 %"), (7, 7, "100 %"),
])  # fmt: skip
def test_percentages_round_no_exception_away(part, whole, text):
    assert phrases.percent(part, whole) == text


ODD_COLUMNS = {
    "categories": (pd.Categorical(["a", None, "b"]), ["a", "b"], [0, -1, 1]),
    "nullable integers": (pd.array([3, None, 1], dtype="Int64"), [1, 3], [1, -1, 0]),
    "nullable booleans": (pd.array([True, None, False], dtype="boolean"), ["False", "True"], [1, -1, 0]),
    "sparse": (pd.arrays.SparseArray([0.0, 2.0, 0.0]), [0, 2], [0, 1, 0]),
    "zones": (pd.to_datetime(["2024-01-02", None, "2024-01-01"]).tz_localize("Asia/Tokyo"),
              np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[us]"), [1, -1, 0]),
    "mixed": (["b", 1, None], ["1", "b"], [1, 0, -1]),
    "large integers": ([2**62 + 1, 2**62, 2**62 + 1], [2**62, 2**62 + 1], [1, 0, 1]),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_COLUMNS)
def test_columns_of_every_kind_are_read(name):
    data, values, codes = ODD_COLUMNS[name]
    (column,) = columns.read(pd.DataFrame({"x": data}))
    assert column.values.tolist() == (values if isinstance(values, list) else values.tolist())
    assert column.codes.tolist() == codes


@pytest.mark.parametrize(
    "values",
    [
        np.array([250, 3, 250, 0], dtype=np.uint8),
        np.array([-128, 127, 0], dtype=np.int8),
        np.array([2.0**62, 2.0**62 + 1024, 2.0**62]),
        np.array([-3.0, 1e9, -3.0]),
        np.array([2**64 - 1, 2**64 - 3], dtype=np.uint64),
        np.array([-(2**63), -(2**63) + 2]),
        np.array([-0.0, 0.0, 2.0], dtype=np.float32),
        np.array([0.5, 7.0, 0.5]),
    ],
    ids=str,
)
def test_distinct_values_are_those_that_sorting_finds(values):
    (column,) = columns.read(values[:, None])
    distinct, codes = np.unique(values, return_inverse=True)
    assert column.values.dtype == values.dtype
    np.testing.assert_array_equal(column.values, distinct)
    np.testing.assert_array_equal(column.codes, codes.ravel())


def test_columns_without_plain_values_are_left_out():
    lists = [[1], [2, 3]]
    assert [c.name for c in columns.read(pd.DataFrame({"a": lists, "b": [1, 2]}))] == ["b"]
    assert [c.name for c in columns.read(pl.DataFrame({"a": lists, "b": [1, 2], "c": [{"x": 1}] * 2}))] == ["b"]
    assert [c.name for c in columns.read(np.array([[1j, 2], [2j, 3]]))] == []


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    return data.data, data.data.assign(species=data.target_names[data.target], sort="iris")


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_gives_the_kind_of_frame_that_it_gets(iris, kind):
    X, table = iris
    frame = table if kind == "pandas" else pl.DataFrame(table.to_dict("list"))
    found = kfuse.describe(KFuse(2).fit(X), frame)
    assert type(found) is type(frame)
    rows = found.to_dict("records") if kind == "pandas" else found.to_dicts()
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5] * 2
    assert {row["column"] for row in rows} == {*X.columns, "species"}
    setosa = next(row for row in rows if row["cluster"] == 1 and row["column"] == "species")
    assert setosa["description"] == "species = setosa (100 %, others 0 %)"
    assert (setosa["effect"], setosa["share"], setosa["share_of_others"]) == (1, 1, 0)
    assert (setosa["kind"], setosa["rows"], setosa["beyond_chance"]) == ("category", 50, True)


def test_other_numbers_of_clusters_are_described(iris):
    X, table = iris
    model = KFuse(2).fit(X)
    assert kfuse.describe(model, table, n_clusters=4)["cluster"].nunique() == 4
    assert len(sentences(model, table, n_clusters=1)) == 1
    assert sentences(model, table, n_clusters=1) == ["150 rows: the whole table."]


def test_noise_comes_last():
    X = np.concatenate([np.random.default_rng(0).normal(size=(100, 2)), [[50, 50], [-60, 60]]])
    model = KFuse(1, outliers="label").fit(X)
    assert (model.labels_ == -1).any()
    assert "rows of noise: " in sentences(model)[-1]
    assert kfuse.describe(model)["cluster"].iloc[-1] == -1


def test_names_are_those_of_the_fit(iris):
    X, _ = iris
    model = KFuse(2).fit(X)
    assert set(kfuse.describe(model)["column"]) == set(kfuse.describe(model, X.to_numpy())["column"]) == {*X.columns}
    assert set(kfuse.describe(model, X.to_numpy(), names=list("abcd"))["column"]) == {*"abcd"}
    assert set(kfuse.describe(model, X.to_numpy()[:, :2])["column"]) == {"feature 0", "feature 1"}


def test_takes_a_pipeline(iris):
    X, table = iris
    model = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), KFuse(2))).fit(X)
    assert "petal length (cm) 1 to 1.9 (all others 3 to 6.9)" in sentences(model, table)[1]
    assert set(kfuse.describe(model, X.to_numpy())["column"]) == {*X.columns}
    assert set(kfuse.describe(model)["column"]) == {f"feature {i}" for i in range(4)}


def test_refuses_what_does_not_fit(iris):
    X, table = iris
    model = KFuse(2).fit(X)
    with pytest.raises(ValueError, match="frame has 3 rows, but the model was fitted to 150: pass the same rows"):
        kfuse.describe(model, table[:3])
    with pytest.raises(TypeError, match=r"pass frame.collect\(\)"):
        kfuse.describe(model, pl.LazyFrame({"a": [1]}))
    with pytest.raises(ValueError, match="names has 1 entries, but there are 4 columns"):
        kfuse.describe(model, X.to_numpy(), names=["a"])
    with pytest.raises(ValueError, match="two dimensions, got 1"):
        kfuse.describe(model, X.to_numpy()[:, 0])
    with pytest.raises(TypeError, match="frame must be a data frame or an array with two dimensions, got dict"):
        kfuse.describe(model, {"a": [1]})
    with pytest.raises(NotFittedError):
        kfuse.describe(KFuse(), table)
    with pytest.raises(TypeError, match="a Pipeline whose last step is KMeans"):
        kfuse.describe(make_pipeline(StandardScaler(), KMeans(2)).fit(X), table)
    with pytest.raises(ValueError, match="keeps no samples: pass the table"):
        kfuse.describe(KFuse(metric="precomputed").fit(pairwise_distances(X)))


def test_one_of_the_two_libraries_is_enough(iris, monkeypatch):
    X, _ = iris
    model = KFuse(2).fit(X)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(kfuse.describe(model), pl.DataFrame)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="pip install pandas, or pip install polars"):
        kfuse.describe(model)


def test_words_are_one_short_line():
    assert phrases.shortened("a\n b\tc") == "a b c"
    assert len(phrases.shortened("x" * 99)) == 40
    assert re.fullmatch(r"x+…", phrases.shortened("x" * 99))
