# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/second-runs: their loads, and how they are recorded."""

import importlib.util
import sys
import tomllib
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from heapfit.trace.stored import Trace

HERE = Path(__file__).resolve().parents[2] / "examples/second-runs"
PROGRAMS = tomllib.loads((HERE / "programs.toml").read_text())["program"]
OPEN_SET = tomllib.loads((HERE.parent / "recordings/programs.toml").read_text())["program"]
FED = [entry for entry in [*PROGRAMS, *OPEN_SET] if "input" in entry]


@pytest.fixture(scope="module")
def recorder() -> ModuleType:
    """record.py, with the modules beside it."""
    sys.path.insert(0, str(HERE))
    try:
        spec = importlib.util.spec_from_file_location("second_runs_record", HERE / "record.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(HERE))
    return module


@pytest.mark.parametrize("entry", FED, ids=lambda entry: entry["name"])
def test_an_input_is_the_same_for_the_same_seed_only(recorder: ModuleType, entry: dict) -> None:
    generate = recorder.GENERATORS[entry["input"]]
    for load in entry["loads"]:
        told = recorder.handed_on(entry, load)
        text = list(generate(Random(load["seed"]), **told))
        assert text == list(generate(Random(load["seed"]), **told))
        assert text != list(generate(Random(load["seed"] + 1), **told))


def test_a_program_fed_on_its_standard_input_is_recorded(
    recorder: ModuleType, tmp_path: Path
) -> None:
    entry = {"name": "sort", "input": "readings", "command": ["sort", "-k", "{key}"],
             "own": ["key"]}  # fmt: skip
    load = {"seed": 1, "lines": 2000, "sensors": 3, "text": 2, "key": 2}
    kept = recorder.record(entry, load, tmp_path / "sort.parquet")
    assert kept.info.program == "sort"
    assert Trace.open(tmp_path / "sort.parquet").info == kept.info


def test_a_program_that_fails_leaves_no_trace(
    recorder: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = {"name": "none", "command": [str(tmp_path / "none")], "loads": [{"seed": 1}],
             "packages": ["sed"]}  # fmt: skip
    assert not recorder.record_all(entry, tmp_path)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("none-1: heapfit: ")
    assert line.endswith("no such program (give its path, or check PATH); it takes Debian's sed")
    assert not any(tmp_path.iterdir())


def test_what_comes_after_the_most_events_is_cut(recorder: ModuleType, tmp_path: Path) -> None:
    whole = Trace.open(HERE / "traces/device-1.parquet")
    kept = recorder.keep_first(whole, tmp_path / "cut.parquet", 100)
    assert kept.info.events == 100
    first = next(iter(whole.batches(("size",))))["size"][:100]
    assert [*next(iter(kept.batches(("size",))))["size"]] == [*first]
