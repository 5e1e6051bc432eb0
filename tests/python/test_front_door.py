# SPDX-License-Identifier: Apache-2.0
"""What `import heapfit` offers is what docs/python.md lists, and the guide's code runs."""

import doctest
import re
import shutil
import subprocess
import sys
from html import escape
from pathlib import Path

import pyarrow as pa
import pytest

import heapfit
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.needs import measure
from heapfit.fitting.fit import fit
from heapfit.fitting.options import FitOptions
from heapfit.results.heap.fit import write_report
from heapfit.trace.tabular import html_table

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
        "t2_w1:events=500", tmp_path_factory.mktemp("walk") / "walk.parquet"
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
    with pytest.raises(TypeError, match="aligment"):
        heapfit.fit(walk, aligment=8)


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
    ]
    for result in results:
        line, table = repr(result), result.to_arrow()
        assert "\n" not in line, line
        assert len(line) <= 120, line
        assert line == str(result)
        assert table.num_rows == len(result.to_pandas()) > 0
        assert result._repr_html_().startswith(f"<p>{escape(line)}</p><table>")


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
