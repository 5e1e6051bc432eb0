# SPDX-License-Identifier: Apache-2.0
"""examples/recordings: what it promises of itself, and that its forms say the same."""

import importlib.util
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from heapfit.importers import ImportOptions, open_any
from heapfit.trace.content import content_hash
from heapfit.trace.operations import ALIGNED, ALLOC, FREE, ZEROED
from heapfit.trace.stored import COLUMNS, Trace, write_trace

HERE = Path(__file__).resolve().parents[2] / "examples/recordings"
TRACES = {path.stem: path for path in sorted((HERE / "traces").glob("*.parquet"))}
PROGRAMS = tomllib.loads((HERE / "programs.toml").read_text())["program"]
MOST_BYTES = 2_500_000  # of examples/ in the repository
# Of each kind: every operation, 32 bit, from a board.
TRIED = ("dot-1", "broker32-2", "gateway-tasks32-1", "m4-1")


@pytest.fixture(scope="module")
def written(forms: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both forms of the recordings that are tried."""
    folder = tmp_path_factory.mktemp("forms")
    for name in TRIED:
        forms.write_forms(Trace.open(TRACES[name]), folder)
    return folder


@pytest.fixture(scope="module")
def forms() -> ModuleType:
    spec = importlib.util.spec_from_file_location("recordings_forms", HERE / "forms.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_thirty_recordings_or_more_of_two_runs_a_program() -> None:
    wanted = {f"{one['name']}-{run}" for one in PROGRAMS for run in range(1, len(one["loads"]) + 1)}
    assert wanted == TRACES.keys()
    assert len(TRACES) >= 30
    hashes = {content_hash(Trace.open(path)) for path in TRACES.values()}
    assert len(hashes) == len(TRACES)


def test_the_examples_of_the_repository_stay_below_their_limit() -> None:
    listing = subprocess.run(
        ["git", "ls-files", "-z", HERE.parent], cwd=HERE, check=True, capture_output=True, text=True
    )
    names = listing.stdout.split("\0")[:-1]
    assert sum((HERE / name).stat().st_size for name in names) <= MOST_BYTES


def test_the_table_says_what_the_recordings_are(forms: ModuleType) -> None:
    page = (HERE / "README.md").read_text()
    assert forms.with_table(page, forms.table_lines(forms.recordings())) == page


@pytest.mark.parametrize("name", TRIED)
def test_the_text_form_has_all_that_the_table_has(name: str, written: Path, tmp_path: Path) -> None:
    stored = Trace.open(TRACES[name])
    text = open_any(written / f"text/{name}.txt.gz", ImportOptions(), tmp_path)
    assert text.info.pointer_bits == stored.info.pointer_bits
    for ours, theirs in zip(
        stored.batches(tuple(COLUMNS)), text.batches(tuple(COLUMNS)), strict=True
    ):
        is_free = ours["op"] == FREE  # whose call site the text has no room for
        ours["site"] = np.where(is_free, 0, ours["site"])
        for column in COLUMNS:
            assert np.array_equal(ours[column], theirs[column]), column


@pytest.mark.parametrize("name", TRIED)
def test_the_malloc_lab_form_has_requests_resizes_and_frees(
    name: str, written: Path, tmp_path: Path
) -> None:
    stored = Trace.open(TRACES[name])

    def plain():
        for batch in stored.batches(("op", "object", "size")):
            op = batch["op"]
            is_request = np.isin(op, (ZEROED, ALIGNED))
            aligned = np.zeros(len(op), np.uint32)
            yield batch | {"op": np.where(is_request, ALLOC, op).astype(np.uint8),
                           "alignment": aligned} | {
                one: np.zeros(len(op), kind) for one, kind in COLUMNS.items()
                if one in ("time", "thread", "site")
            }  # fmt: skip

    info = replace(stored.info, largest_alignment=0)
    expected = write_trace(tmp_path / "plain.parquet", plain(), info)
    read = open_any(written / f"rep/{name}.rep.gz", ImportOptions(), tmp_path)
    assert content_hash(read) == content_hash(expected)
