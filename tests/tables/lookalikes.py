"""Small tables in the likeness of real ones: the same columns and kinds of values, other numbers."""

import numpy as np
import polars as pl

SPECIES = ("Adelie", "Gentoo", "Chinstrap")
CENTRES = np.array([[38.8, 18.3, 190, 3700], [47.5, 15.0, 217, 5076], [48.8, 18.4, 196, 3733]])
SPREADS = np.array([2.6, 1.1, 6.5, 400])


def penguins(n=240, seed=0):
    """Three species by four measurements, with categories, a year and missing values."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 3
    sex = rng.integers(0, 2, n)
    size = CENTRES[kind] + SPREADS * (0.6 * rng.normal(size=(n, 4)) + 0.6 * (sex[:, None] - 0.5))
    names = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    columns = {name: pl.Series(size[:, i].round(1)).to_list() for i, name in enumerate(names)}
    columns["bill_depth_mm"][7] = None
    for values in columns.values():
        values[3] = None
    island = [("Torgersen", "Biscoe", "Dream")[i if i else rng.integers(3)] for i in kind]
    sexes = [None if i in (3, 11, 12) else ("female", "male")[s] for i, s in enumerate(sex)]
    return pl.DataFrame(
        {
            "species": [SPECIES[i] for i in kind],
            "island": island,
            **columns,
            "sex": sexes,
            "year": rng.integers(2007, 2010, n),
        }
    )


def titanic(n=300, seed=0):
    """Categories only, with an index that has no name."""
    rng = np.random.default_rng(seed)
    pick = lambda *values: rng.choice(values, n)  # noqa: E731
    return pl.DataFrame(
        {
            "": np.arange(1, n + 1),
            "class": pick("1st class", "2nd class", "3rd class"),
            "age": pick("adults", "child"),
            "sex": pick("man", "women"),
            "survived": pick("yes", "no"),
        }
    )


def flights(n=400, seed=0):
    """Flights from three airports; those to Honolulu are twice as far as any other."""
    rng = np.random.default_rng(seed)
    far = rng.random(n) < 0.1
    distance = np.where(far, 4983, rng.choice([184, 529, 762, 1089, 1400, 2475, 2586], n))
    return pl.DataFrame(
        {
            "year": [2013] * n,
            "month": rng.integers(1, 13, n),
            "dep_delay": rng.exponential(10, n).round() - 5,
            "carrier": [
                f"{a}{b}" for a, b in zip(rng.choice(list("ABCD"), n), rng.choice(list("123456"), n), strict=True)
            ],
            "tailnum": [f"N{i}" for i in rng.integers(100, 999, n)],
            "origin": rng.choice(["EWR", "LGA", "JFK"], n),
            "dest": np.where(far, "HNL", rng.choice(["IAH", "MIA", "BOS"], n)),
            "air_time": distance / 7.5 + rng.normal(0, 5, n),
            "distance": distance,
            "time_hour": [f"2013-01-{1 + i % 28:02}T{i % 24:02}:00:00Z" for i in range(n)],
        }
    )


def airports(n=150, seed=0):
    """Places on two continents, with codes, names and time zones."""
    rng = np.random.default_rng(seed)
    west = np.arange(n) % 2 == 0
    return pl.DataFrame(
        {
            "faa": [f"{i:03X}" for i in rng.permutation(4000)[:n]],
            "name": [
                f"Field number {i} of the {w}" for i, w in zip(range(n), rng.choice(["hills", "sea"], n), strict=True)
            ],
            "lat": np.where(west, 21, 40) + rng.normal(0, 2, n),
            "lon": np.where(west, -157, -80) + rng.normal(0, 2, n),
            "alt": rng.gamma(1, 300, n).round(),
            "dst": rng.choice(["A", "N", "U"], n),
        }
    )


def movies(n=500, seed=0):
    """Counts of votes over five orders of magnitude, flags, and a budget that is mostly missing."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "title": [f"The {a} of {b} part {i}" for i, (a, b) in enumerate(rng.choice(list("abcdefgh"), (n, 2)))],
            "length": rng.normal(95, 15, n).round(),
            "budget": [None if i % 10 else 1e6 * i for i in range(n)],
            "votes": np.exp(rng.normal(5, 2, n)).round() + 5,
            "rating": rng.normal(6, 1.2, n).round(1),
            "Comedy": rng.integers(0, 2, n),
        }
    )


def stocks(n=200, seed=0):
    """A category, dates in words and prices."""
    rng = np.random.default_rng(seed)
    months = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    return pl.DataFrame(
        {
            "symbol": rng.choice(["MSFT", "AMZN", "IBM"], n),
            "date": [f"{months[i % 12]} 1 {2000 + i // 12}" for i in range(n)],
            "price": [f"${value:,.2f}" for value in np.exp(rng.normal(5, 1.5, n))],
        }
    )


TABLES = {one.__name__: one for one in (penguins, titanic, flights, airports, movies, stocks)}
