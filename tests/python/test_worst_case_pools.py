# SPDX-License-Identifier: Apache-2.0
"""Pools for every size's worst case, of an allocator with no heap beside its pools."""

from pathlib import Path

from small_traces import heapfit_json

from heapfit.comparison.candidate import Candidate, NotApplicable
from heapfit.design.portfolio import build_portfolio
from heapfit.importers import ImportOptions, open_any
from heapfit.trace.loaded import load_trace

PLAIN = "a 0 24\na 1 24\na 2 40\nf 0\n"
ALIGNED = PLAIN + "m 3 512 2048\n"


def made(text: str, folder: Path) -> Candidate | NotApplicable:
    (folder / "some.heap").write_text(f"# heap-events 1\n{text}")
    loaded = load_trace(open_any(folder / "some.heap", ImportOptions(), folder))
    portfolio = build_portfolio(loaded, ["static_pools"], [])
    return (*portfolio.candidates, *portfolio.not_applicable)[0]


def test_requests_that_no_pool_serves_leave_it_out_with_a_reason(tmp_path: Path) -> None:
    assert isinstance(made(PLAIN, tmp_path), Candidate)
    left_out = made(ALIGNED, tmp_path)
    assert isinstance(left_out, NotApplicable)
    assert "no pool serves some requests" in left_out.why


def test_a_comparison_goes_on_without_it(tmp_path: Path) -> None:
    (tmp_path / "some.heap").write_text(f"# heap-events 1\n{ALIGNED}")
    told = heapfit_json("compare", "some.heap", "static_pools", "tlsf", folder=tmp_path)
    assert [row["name"] for row in told["rows"]] == ["tlsf"]
