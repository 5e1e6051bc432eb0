# SPDX-License-Identifier: Apache-2.0
"""What `import heapfit` offers is what docs/python.md lists, takes paths and tables, and runs."""

import doctest
import importlib
import os
import re
import shutil
import subprocess
import sys
from html import escape
from pathlib import Path

import duckdb
import numpy as np
import polars
import pyarrow as pa
import pytest

import heapfit
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.needs import measure
from heapfit.fitting.fit import fit
from heapfit.fitting.options import FitOptions
from heapfit.results.fit_page import write_report
from heapfit.trace.tabular import html_table
from program import call_heapfit

pytestmark = pytest.mark.usefixtures("unmeasured")

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/python.md"
PACKAGE = Path(heapfit.__file__).parent
BLOCK = re.compile(r"(?<=^```python\n).*?(?=^```)", re.MULTILINE | re.DOTALL)


def listed() -> list[str]:
    """The names in the first column of the guide's table."""
    rows = [line.split("|")[1] for line in GUIDE.read_text().splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def test_the_names_offered_are_those_of_the_guide():
    assert sorted(listed()) == dir(heapfit)


def test_a_name_is_there_and_says_what_it_is():
    for name in listed():
        said = getattr(heapfit, name).__doc__
        assert said, name
        assert not said.startswith(f"{name}(")  # a dataclass without a docstring has that


def test_no_name_is_a_room_too():
    """Else `import heapfit.ROOM.MODULE as m` would look for MODULE in what is offered."""
    assert not {path.stem for path in PACKAGE.iterdir()} & (set(listed()) - {"__init__"})


@pytest.fixture(scope="module")
def walk(tmp_path_factory) -> heapfit.Trace:
    return heapfit.generate_workload(
        "slotbuf:events=500", tmp_path_factory.mktemp("walk") / "walk.parquet"
    )


@pytest.fixture(scope="module")
def fitted(walk) -> heapfit.FittedHeap:
    return heapfit.fit(str(walk.path), margin=10)


def test_what_a_fit_writes_later_is_what_the_command_writes(walk, fitted, tmp_path):
    options = FitOptions(margin=10)
    fit([walk.path], tmp_path / "command", options, write_page=write_report)
    paths = fitted.write(tmp_path / "later")
    written = [path.relative_to(paths.folder) for path in paths.folder.rglob("*")]
    assert len(written) > 5
    for name in written:
        ours, theirs = tmp_path / "later" / name, tmp_path / "command" / name
        if ours.is_file():
            assert ours.read_bytes().replace(b"/later/", b"/command/") == theirs.read_bytes(), name


def test_what_a_fit_imports_is_written_with_it_and_gone_without(tmp_path):
    recording = tmp_path / "four.heap"
    recording.write_text("a 1 40\na 2 80\nf 1\na 3 40\nf 2\nf 3\n")
    fitted = heapfit.fit(recording, alignment=4)
    home = fitted.home
    assert [path.name for path in home.iterdir()] == ["four.parquet"]
    assert fitted.check(recording).holds
    paths = fitted.write(tmp_path / "out")
    assert paths.traces == (tmp_path / "out/four.parquet",)
    assert heapfit.Trace.open(paths.traces[0]).info.events == 6
    del fitted
    assert not home.exists()


def test_a_fit_that_fails_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    recordings = tmp_path / "one.heap", tmp_path / "two.heap"
    for recording, text in zip(recordings, ("a 1 40\nf 1\n", "a 1 40\nf 2\n"), strict=True):
        recording.write_text(text)
    with pytest.raises(heapfit.HeapfitError, match=r"two\.heap: line 2"):
        heapfit.fit(recordings)
    assert {*tmp_path.iterdir()} == {*recordings}


def test_what_a_fit_compared_is_written_as_plans(walk, tmp_path):
    fitted = heapfit.fit(walk, whole=True, allocators=("tlsf", "best_fit"))
    plans = [heapfit.load_plan(path) for path in fitted.write_plans(tmp_path / "plans")]
    assert {plan.r_safe for plan in plans} == {row.r_safe for row in fitted.rows}
    assert {row.plan.allocator for row in fitted.rows} == {"tlsf", "best_fit"}


def test_a_saving_is_that_of_the_margin_that_was_asked_for(walk, fitted):
    needed = measure(find_heap("heap_4", 8), [walk]).most
    saved = needed * 1.1 - fitted.region
    assert saved <= fitted.saving_over("heap_4") < saved + 8
    with pytest.raises(
        heapfit.HeapfitError, match=r"^heap_44: no such heap \(did you mean 'heap_4'"
    ):
        fitted.saving_over("heap_44")


def test_a_choice_that_there_is_not_is_refused(walk):
    with pytest.raises(TypeError, match=r"^fit\(\) takes no 'aligment' .did you mean 'alignment'"):
        heapfit.fit(walk, aligment=8)
    with pytest.raises(TypeError, match=r"^place\(\) takes no 'nedds'"):
        heapfit.place(walk, ["a=64K"], nedds=())


def test_a_result_prints_in_a_line_and_is_a_table(walk):
    comparison = heapfit.compare(walk, ["tlsf", "first_fit"])
    traffic = ROOT / "examples/partitions/figure-5.toml"
    results = [
        walk,
        comparison,
        heapfit.profile_trace(walk),
        heapfit.find_bounds(walk),
        heapfit.place(walk, ["internal=64M:dma", "psram=64M"], needs=("dma=60000",), share=0.5),
        heapfit.size_settings("freertos", walk),
        heapfit.size_traffic(traffic, heapfit.Aim(admission=0.9999999)),
        heapfit.simulate(traffic, is_exact=True),
        heapfit.replay(walk, "tlsf", "8M"),
    ]
    for result in results:
        line, table = repr(result), result.to_arrow()
        assert "\n" not in line, line
        assert len(line) <= 120, line
        assert line == str(result)
        assert table.num_rows == len(result.to_pandas()) > 0
        assert result._repr_html_().startswith(f"<p>{escape(line)}</p><table>")


def test_records_print_their_plain_values_in_a_line(walk):
    plan = heapfit.load_plan(PLAN)
    for one in (plan, heapfit.find_kind(walk), heapfit.compare(walk, "tlsf").rows[0]):
        assert repr(one).startswith(f"{type(one).__name__}(")
        assert len(repr(one)) <= 120
    assert repr(plan).startswith("PlanFile(name=tailored, region=46376, ")
    assert repr(heapfit.find_allocators(["tlsf", "dlmalloc"])) == "2 allocators: tlsf, lea"


def test_polars_and_duckdb_read_names_from_the_result_itself(walk):
    assert set(polars.DataFrame(walk)["op"].cast(str)) == {"alloc", "free"}
    assert duckdb.sql("select distinct op from walk order by op").fetchall() == [
        ("alloc",),
        ("free",),
    ]


def test_live_bytes_have_a_row_for_each_event_and_the_peak(walk):
    table = heapfit.live_bytes(walk)
    assert table["event"].to_pylist() == list(range(500))
    assert max(table["live_bytes"].to_pylist()) == heapfit.profile_trace(walk).u_max


def test_live_bytes_count_all_blocks_and_weigh_a_mean(tmp_path):
    columns = {
        "op": ["alloc", "alloc", "resize", "free", "resize"],
        "object": ["a", "b", "a", "b", "a"],
        "size": [10, 20, 40, 0, 0],  # a resize to 0 frees
        "time": [5, 10, 10, 30, 50],
    }
    live = heapfit.live_bytes(heapfit.from_arrow(pa.table(columns), tmp_path / "t.parquet"))
    rows = zip(*(live[name].to_pylist() for name in ("event", "all_blocks", "lasts")), strict=True)
    assert list(rows) == [(0, 1, 5), (1, 2, 0), (2, 2, 0), (2, 2, 20), (3, 1, 20), (4, 0, 0)]
    mean = np.average(live["live_bytes"], weights=live["lasts"])
    assert mean == pytest.approx((10 * 5 + 60 * 20 + 40 * 20) / 45)


def test_the_holders_of_the_peak_are_the_blocks_that_are_live_there(tmp_path):
    columns = {
        "op": ["alloc", "alloc", "free", "alloc", "resize", "free"],
        "object": ["a", "b", "a", "c", "b", "c"],
        "size": [10, 20, 0, 5, 90, 0],
    }
    trace = heapfit.from_arrow(pa.table(columns), tmp_path / "t.parquet")
    held = heapfit.find_holders(trace, "object")
    rows = zip(held["object"].to_pylist(), held["bytes"].to_pylist(), strict=True)
    assert list(rows) == [(1, 90), (2, 5), (0, 0)]


def test_a_sweep_agrees_with_the_search_of_the_region(walk):
    safe = heapfit.compare(walk, "tlsf").row("tlsf").r_safe
    swept = heapfit.replay(walk, "tlsf", [safe - 4096, safe, f"{safe + 65536}"])
    assert swept.to_arrow()["is_served"].to_pylist()[1:] == [True, True]
    assert str(swept).startswith("replays on tlsf: ")
    small = heapfit.replay(walk, "heap_4", "16K")
    (row,) = small.to_arrow().to_pylist()
    assert not row["is_served"] and row["size"] > row["largest_hole"]
    event = walk.to_arrow().slice(row["event"], 1).to_pylist()[0]
    assert all(row[name] == event[name] for name in ("op", "object", "size"))
    assert (
        row["refused"]
        == heapfit.check(walk, heap="heap_4:16K", options=heapfit.CheckOptions(measure=True))
        .recordings[0]
        .refusals.refused
    )
    assert swept.to_arrow()["refused"].to_pylist()[1:] == [0, 0]
    assert heapfit.check(walk, heap="heap_4:16K").recordings[0].run.refusal.event == row["event"]


def test_what_the_shell_takes_as_text_is_text_here_too(walk):
    assert heapfit.fit(walk, peak="8M", margin="5%", effort="quick").plan.peak == 8 << 20
    assert heapfit.size_pools(walk, "99%").admission == 0.99


def test_a_plug_in_is_a_row_of_the_table(walk):
    compared = heapfit.compare(walk, "tlsf", plugins=[ROOT / "examples/plugins/bump.c"])
    rows = compared.to_arrow().to_pylist()
    assert [(row["name"], row["allocator"], row["faults"]) for row in rows] == [
        ("tlsf", "tlsf", None),
        ("bump", "plug-in", ""),
    ]
    assert rows[1]["r_safe"] == compared.plugins[0].r_safe > rows[0]["r_safe"]


def test_a_notebook_takes_no_name_for_html():
    shown = html_table("a <b>", pa.table({"n<me": ["<script>"] * 30, "size": [1500] * 30}))
    assert re.findall(r"<(?!/?(?:p|table|thead|tbody|tr|th|td)\b)", shown) == []
    assert shown.count("1,500") == 20
    assert "10 rows more" in shown


def test_without_pandas_one_is_told_what_to_do(walk, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(heapfit.HeapfitError, match="pip install pandas"):
        walk.to_pandas()


def test_an_unknown_name_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        heapfit.fitt  # noqa: B018


def test_importing_heapfit_loads_nothing_heavy():
    heavy = ("numpy", "pyarrow", "heapfit._engine", "heapfit.fitting")
    script = (
        f"import sys, heapfit\ndir(heapfit)\nsys.exit(not sys.modules.keys().isdisjoint({heavy}))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_the_code_of_the_guide_runs(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    code = "\n".join(BLOCK.findall(GUIDE.read_text()))
    test = doctest.DocTestParser().get_doctest(code, {}, "the guide", str(GUIDE), 0)
    assert len(test.examples) > 25
    assert doctest.DocTestRunner().run(test).failed == 0


# ---- traces of events and tables in memory, and wrong arguments

EVENTS = [("alloc", 4096, 100), ("zeroed", "b", 24), ("resize", 4096, 200), ("free", "b"),
          ("alloc", "b", 8), ("aligned", 7, 64, 32), (heapfit.Op.FREE, 4096)]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    info = heapfit.TraceInfo(program="made", pointer_bits=32)
    return heapfit.from_events(EVENTS, tmp_path_factory.mktemp("made") / "made.parquet", info)


def test_blocks_are_numbered_as_they_are_allocated(made):
    table = made.to_arrow()
    assert table["op"].to_pylist() == [
        "alloc",
        "zeroed",
        "resize",
        "free",
        "alloc",
        "aligned",
        "free",
    ]
    assert table["object"].to_pylist() == [0, 1, 0, 1, 2, 3, 0]
    assert (made.info.program, made.largest_alignment) == ("made", 32)
    assert heapfit.profile_trace(made).u_max == 272


def test_a_table_of_a_trace_is_that_trace(made, tmp_path):
    table, numbers = made.to_arrow(), [0, 1, 3, 4, 0, 2, 4]
    again = heapfit.from_arrow(table, tmp_path / "again.parquet")
    framed = heapfit.from_pandas(made.to_pandas(), tmp_path / "framed.parquet")
    assert again.to_arrow() == framed.to_arrow() == table
    plain = {"op": numbers, "object": table["object"], "size": [100, 24, 200, 0, 8, 64, 0]}
    resized = heapfit.from_arrow(pa.table(plain), tmp_path / "plain.parquet")
    assert resized.to_arrow()["size"] == table["size"]
    named = plain | {"object": [*"abab", "c", "d", "a"], "time": [9, 9, 12, 30, 30, 31, 40]}
    assert heapfit.from_arrow(pa.table(named), tmp_path / "named.parquet").to_arrow().select(
        ["object", "time"]
    ).to_pydict() == {"object": table["object"].to_pylist(), "time": [0, 0, 3, 21, 21, 22, 31]}


def test_call_sites_read_as_commands_print_them(tmp_path):
    columns = {
        "op": ["alloc", "free"],
        "object": [0, 0],
        "size": [8, 0],
        "site": ["00c0ffee", None],
    }
    trace = heapfit.from_arrow(pa.table(columns), tmp_path / "sites.parquet")
    assert trace.to_arrow()["site"].to_pylist() == columns["site"]
    (batch,) = trace.batches(["site"])
    assert batch["site"].tolist() == [0xC0FFEE, 0]


def test_tags_and_tasks_of_a_table_are_names_that_commands_print(tmp_path):
    """Of no more than seven letters, so that `face` is a name and `c0ffee00` is an address."""
    columns = {
        "op": ["alloc", "alloc", "free"],
        "object": [0, 1, 0],
        "size": [8, 16, 0],
        "site": ["net", "face", None],
        "thread": ["main", "2", None],
    }
    info = heapfit.TraceInfo(program="sensor")
    trace = heapfit.from_arrow(pa.table(columns), tmp_path / "tags.parquet", info)
    (batch,) = heapfit.open(tmp_path / "tags.parquet").batches(["site", "thread"])
    named = [trace.info.names[int(one)] for one in [*batch["site"][:2], batch["thread"][0]]]
    assert named == ["net", "face", "main"]
    assert (batch["thread"][1], batch["site"][2], trace.info.program) == (2, 0, "sensor")
    assert "net" in call_heapfit("sites", trace.path).stdout


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([("alloc", "a", 8), ("free", "b")], r"events\[1\]: free of 'b', which is not live"),
        (
            [("alloc", "a", 8), ("alloc", "a", 8)],
            r"events\[1\]: alloc of 'a', which is live already",
        ),
        (
            [("alloc", "a", 8), ("resize", "a", 0), ("free", "a")],
            r"events\[2\]: free of 'a', which is not live .a resize to 0 frees, too",
        ),
        ([("aloc", "a", 8)], r"events\[0\]: 'aloc' is no operation .did you mean 'alloc'"),
        ([("alloc", "a")], r"events\[0\]: alloc of 'a' has no bytes"),
        ([("alloc", "a", "8")], r"events\[0\]: '8' is no number of bytes"),
        ([("alloc",)], r"events\[0\]: has 1 fields"),
    ],
)
def test_a_wrong_event_is_named(tmp_path, events, said):
    with pytest.raises(heapfit.HeapfitError, match=said):
        heapfit.from_events(events, tmp_path / "wrong.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "times",
    [
        [7, 2069671],
        [0.1, 2069664.0000000002],
        pa.array([5_000_000, 2_074_664_000], pa.duration("ns")),
        pa.array([1_767_225_600_000_000, 1_767_225_602_069_664], pa.timestamp("us", "Europe/Oslo")),
    ],
)
def test_times_are_microseconds_or_dates_or_durations(tmp_path, times):
    table = pa.table({"op": ["alloc", "free"], "object": ["a", "a"], "size": [8, 0], "time": times})
    trace = heapfit.from_arrow(table, tmp_path / "made.parquet")
    assert trace.to_arrow()["time"].to_pylist() == [0, 2_069_664]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"op": [0], "object": [0]}, "column size: is missing"),
        ({"op": [0], "object": [0], "sizes": [8]}, "column sizes: .*did you mean 'size'"),
        (
            {"op": [0], "object": [0], "size": [8], "tag": ["net"]},
            "tags and names of .* its `site`",
        ),
        ({"op": [0], "object": [0], "size": ["net"]}, "column size, row 0: 'net' is no number"),
        ({"op": [0], "object": [0], "size": [-8]}, "column size, row 0: -8 is no uint64"),
        ({"op": [0], "object": [0], "size": [1.5]}, "column size, row 0: 1.5 is no uint64"),
        ({"op": [4], "object": [7], "size": [0]}, r"events\[0\]: free of 7, which is not live"),
    ],
)
def test_a_wrong_column_is_named(tmp_path, columns, said):
    with pytest.raises(heapfit.HeapfitError, match=said):
        heapfit.from_arrow(pa.table(columns), tmp_path / "wrong.parquet")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda made: heapfit.fit(made, alignment=7), "alignment=7: blocks are aligned to 4, 8"),
        (lambda made: heapfit.compare(made, ["tlsf"], alignment=7), "alignment=7: "),
        (lambda _: heapfit.fit([]), "no recording is given"),
        (lambda _: heapfit.fit(42), "42 is no recording"),
        (lambda made: heapfit.fit(made, peak="64Q"), "64Q is not a size in bytes"),
        (lambda made: heapfit.check(made, PLAN, heap="tlsf:8K"), "check: give a plan or a heap"),
        (lambda made: heapfit.replay(made, "tlsf", "8Q"), "8Q is not a size in bytes"),
        (lambda made: heapfit.fit(made, horizon="30q"), "horizon 30q: is no length of time"),
        (lambda made: heapfit.fit(made, margin=-1), "margin=-1: must be at least 0"),
        (lambda made: heapfit.fit(made, effort="quik"), "effort='quik': .*did you mean 'quick'"),
        (lambda made: heapfit.profile_trace([made, made]), "2 recordings are given .give one"),
        (lambda _: heapfit.record([], "o.parquet"), "^no program is named"),
        (lambda _: heapfit.generate_workload("t2_w1", "o", -1), "^seed=-1: must be from 0"),
        (
            lambda _: heapfit.from_events([5], "o.parquet"),
            r"^events\[0\]: is 5 \(give operation, block",
        ),
        (lambda _: heapfit.from_pandas(5, "o.parquet"), "^frame=5: is no DataFrame"),
    ],
)
def test_a_wrong_argument_is_named(made, call, said):
    with pytest.raises(heapfit.HeapfitError, match=said):
        call(made)


def test_a_comparison_finds_a_row_by_its_name(made):
    compared = heapfit.compare(made, ["tlsf", "first_fit"])
    assert [compared.row(name).name for name in ("tlsf", "first_fit")] == ["tlsf", "first_fit"]
    with pytest.raises(heapfit.HeapfitError, match="tlfs: is not compared here"):
        compared.row("tlfs")


# ---- paths
RUN = ROOT / "examples/check/traces/base.parquet"
PLAN = ROOT / "examples/check/plan.toml"


class AnyPath:
    """A PathLike that is no Path."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return os.fspath(self.path)


def test_a_path_may_be_text_or_any_path_like(tmp_path):
    events = heapfit.Trace.open(RUN).info.events
    for path in (str(RUN), AnyPath(RUN)):
        assert heapfit.Trace.open(path).info.events == events
        assert heapfit.profile_trace(path).events == events
        assert heapfit.check([path], AnyPath(PLAN)).holds
    (tmp_path / "a.heap").write_text("a 0 16\nf 0\n")
    made = heapfit.import_file(AnyPath(tmp_path / "a.heap"), str(tmp_path / "a.parquet"))
    assert made.info.events == 2


# ---- modules and their examples

MODULES = Path(heapfit.__file__).parent


def test_every_module_is_what_its_name_says_and_its_examples_run():
    attempted = failed = 0
    for path in sorted(MODULES.rglob("*.py")):
        name = ".".join((MODULES.name, *path.relative_to(MODULES).with_suffix("").parts))
        name = name.removesuffix(".__init__")
        offered = {}
        exec(f"import {name} as module", offered)
        assert offered["module"] is importlib.import_module(name)
        ran = doctest.testmod(offered["module"])
        attempted, failed = attempted + ran.attempted, failed + ran.failed
    assert failed == 0
    assert attempted > 5
