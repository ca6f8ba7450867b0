"""Faults of files and the network; each function takes the number of repetitions and a seed, and returns a summary."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import kfuse
from tests.hostile.child import finish, run, start

CACHED = "*.nb[ic]"  # numba's index and data files


def copy_cache(folder: Path) -> None:
    """Copy the cached kernels to where numba looks for them with NUMBA_CACHE_DIR = `folder`."""
    from numba.core import caching  # noqa: PLC0415 - slow to import

    for cached in {path.parent for path in Path(kfuse.__file__).parent.rglob(CACHED)}:
        source = str(cached.parent / "any.py")
        there = folder / caching._CacheLocator.get_suitable_cache_subpath(source)
        there.mkdir(parents=True)
        for path in cached.glob(CACHED):
            shutil.copy2(path, there)


def damaged_cache(times: int, seed: int) -> str:
    """Truncate, empty or overwrite cached kernels: they are recompiled, and the cache is repaired."""
    code = "say(json.dumps(KFuse(3).fit(small).labels_.tolist()))"
    expected, chance, n_damaged = run(code), random.Random(seed), 0
    damages: list[Callable[[bytes], bytes]] = [
        lambda content: b"",
        lambda content: content[: chance.randrange(len(content))],
        lambda content: chance.randbytes(len(content)),
    ]
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            copy_cache(Path(folder))
            for path in chance.sample(sorted(Path(folder).rglob(CACHED)), min(4 * times, 12)):
                path.write_bytes(chance.choice(damages)(path.read_bytes()))
                n_damaged += 1
            for _ in range(2):  # the second process reads the repaired cache
                assert finish(start(code, NUMBA_CACHE_DIR=folder)) == expected
    return f"{n_damaged} files"


def no_cache(times: int, seed: int) -> str:
    """Deny numba a cache folder, or space in it: kernels are compiled but not cached."""
    code = """
        from kfuse.core.dendrogram import nodes_after_merges
        if limit := os.environ.get("LIMIT"):
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
        if os.environ.get("WHOLE"):
            KFuse(3).fit(small)
        say(nodes_after_merges(np.array([[0, 1]]), 2).tolist())
    """
    whole = {"WHOLE": "1"} if times > 1 else {}
    with tempfile.TemporaryDirectory() as folder:
        for environment in ({"NUMBA_CACHE_DIR": "/dev/null/nowhere"}, {"NUMBA_CACHE_DIR": folder, "LIMIT": "10"}):
            assert finish(start(code, **environment, **whole)).strip() == "[2, 2]"
        left = [path.name for path in Path(folder).rglob("*") if path.is_file()]
    assert not left, left
    return "a folder that cannot be created, and one without space"


def full_disk(times: int, seed: int) -> str:
    """Write a report to a full disk: the old file stays, and nothing else is left."""
    code = f"""
        import pathlib, tempfile
        from kfuse import files, report
        model = KFuse(3).fit(small)
        free = resource.getrlimit(resource.RLIMIT_FSIZE)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "report.html"
            path.write_text("old")
            for number in range({times}):
                resource.setrlimit(resource.RLIMIT_FSIZE, (1000 * number + 10, free[1]))
                try:
                    report.write(model, small, path)
                    raise AssertionError("the report was written")
                except OSError as error:
                    assert error.filename == str(path)
                resource.setrlimit(resource.RLIMIT_FSIZE, free)
                assert path.read_text() == "old"
                assert [found.name for found in pathlib.Path(folder).iterdir()] == ["report.html"]
            report.write(model, small, path)
            assert path.stat().st_size > 1000 * {times}  # so no limit above was large enough
            assert path.read_text("utf-8").rstrip().endswith("</html>")
        say("ok")
    """
    return run(code).strip()


def kill_while_writing(times: int, seed: int) -> str:
    """Kill -9 a process that keeps rewriting a file: the file is always one complete version."""
    code = """
        import pathlib
        from kfuse import files
        path = pathlib.Path(sys.stdin.readline().strip())
        say("ready")
        for number in range(1, 10**9):
            with files.whole_file(path) as file:
                for _ in range(50):
                    file.write(bytes([number % 256]) * 20_000)
    """
    chance, n_left = random.Random(seed), 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels"
        path.write_bytes(bytes(1_000_000))
        for _ in range(times):
            process = start(code)
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{path}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "ready\n", process.communicate()[1]
            time.sleep(chance.uniform(0.0, 0.3))
            process.kill()
            process.communicate()
            content = path.read_bytes()
            assert len(content) == 1_000_000
            assert len(set(content)) == 1
        n_left = len(list(Path(folder).glob(".kfuse-*.tmp")))
    return f"{n_left} hidden temporary files were left beside it"


def no_network(times: int, seed: int) -> str:
    """Fit, predict, plot, report and use the command line without opening a socket."""
    code = """
        import socket, tempfile, pathlib

        def refuse(*arguments, **options):
            raise AssertionError("a socket was opened")

        socket.socket = socket.create_connection = socket.getaddrinfo = refuse
        import matplotlib
        matplotlib.use("Agg")
        from typer.testing import CliRunner
        from kfuse import plots, report
        from kfuse.cli.app import app
        from kfuse.datasets import load, make_shapes
        for fusion in ("adaptive", "paper"):
            model = KFuse(3, fusion=fusion).fit(small)
            model.predict(small)
        plots.scatter(small, model.labels_)
        with tempfile.TemporaryDirectory() as folder:
            report.write(model, small, pathlib.Path(folder) / "report.html")
            table = pathlib.Path(folder) / "data.npy"
            np.save(table, small)
            assert CliRunner().invoke(app, ["cluster", str(table), "-o", str(table) + ".csv"]).exit_code == 0
        make_shapes()
        load("BreastCancer")
        say("ok")
    """
    return run(code).strip()


def long_line(times: int, seed: int) -> str:
    """Cluster a CSV file that is one line of a gigabyte: a one-line error, in a few times its size of memory."""
    code = """
        from typer.testing import CliRunner
        from kfuse.cli.app import app
        ended = CliRunner().invoke(app, ["cluster", os.environ["LINE"]])
        assert ended.exit_code == 1, (ended.exit_code, ended.exception)
        assert ended.stderr.startswith("kfuse: ") and ended.stderr.count("\\n") == 1 and len(ended.stderr) < 1000
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        say(f"{ended.stderr.strip()[-90:]} (peak {peak:.1f} GB)")
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "line.csv"
        with path.open("wb") as file:
            for _ in range(1024 if times > 1 else 8):
                file.write(b"0123456789abcdef" * 2**16)
        return run(code, LINE=str(path))
