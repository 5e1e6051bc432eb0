# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit` on real recordings: the outcome of every file is named.

The recordings lie in the folder HEAPFIT_CORPUS names, in its folders heap, net, pcap, synthetic and
dist. Where it is not set, those of the repository's own examples/ stand in, and a made-up one.

A run fits a thirtieth of them, another each day; HEAPFIT_ALL_RECORDINGS=1 fits all. Of a long
recording in lines the beginning is fitted: that all of it can be read is the business of
test_trace_corpus, and a fit looks at events beyond these in no other way.
"""

import gzip
import os
from datetime import date
from itertools import islice
from pathlib import Path

import pytest
from small_traces import table2

from heapfit.errors import HeapfitError
from heapfit.fitting.fit import fit
from heapfit.fitting.options import FitOptions
from heapfit.plan.plan_file import load_plan
from heapfit.results.fit_page import write_report

pytestmark = pytest.mark.usefixtures("unmeasured")

CORPUS = os.environ.get("HEAPFIT_CORPUS")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LINES = 3000
ENDINGS = (".gz", ".pcap", ".pcapng", ".csv", ".parquet")

# What cannot be fitted, and what the one line says of it. All others are fitted.
REFUSED = {
    "802154.pcap": "link type 195 (802.15.4) is not supported",
    "80211-meshid.pcap": "none of 3 packets is IP",
    "80211-tim.pcap": "none of 4 packets is IP",
    "big-endian.pcap": "link type 253 (NETLINK) is not supported",
    "radiotap-exthdr.pcap": "none of 26 packets is IP",
    "wifi-wep64-ptw.pkt.gz": "none of 65282 packets is IP",
    "wifi-wpa-induction.pkt.gz": "none of 1093 packets is IP",
    "wifi-wpa-test-decode.pkt.gz": "none of 4274 packets is IP",
    "fleet-tcmalloc-0.csv": "its format is unknown",
    "fleet-tcmalloc-1.csv": "its format is unknown",
    "fleet-tcmalloc-3.csv": "its format is unknown",
    "fleet-tcmalloc-4.csv": "its format is unknown",
    "fleet-tcmalloc-9.csv": "its format is unknown",
}


def recordings() -> list[Path]:
    folder = Path(CORPUS) if CORPUS else EXAMPLES
    found = (path for path in folder.rglob("*") if path.name.endswith(ENDINGS))
    # Inputs that are wrong in one place each, with what is to come of them, are no recordings.
    return sorted(path for path in found if path.parent.name != "cases")


ALL = os.environ.get("HEAPFIT_ALL_RECORDINGS") == "1"
CAN_BE_FITTED = [path for path in recordings() if path.name not in REFUSED]
FITTED = CAN_BE_FITTED if ALL or not CORPUS else CAN_BE_FITTED[date.today().toordinal() % 60 :: 60]


def named(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


@pytest.fixture(scope="module")
def made_up(tmp_path_factory) -> Path:
    return table2(tmp_path_factory.mktemp("corpus") / "four.heap", events=10_000, seed=2)


def check_fit(source: Path, folder: Path) -> None:
    fitted = fit([source], folder, FitOptions(code=True), write_page=write_report)
    plan_file = load_plan(fitted.paths.plan)
    assert plan_file.region >= plan_file.r_safe >= fitted.profile.u_max
    rows = [row for row in fitted.comparison.rows if row.r_min is not None]
    assert fitted.comparison.bounds.packing <= min(row.r_min for row in rows)
    assert fitted.winner.replay.refusals == 0
    assert fitted.winner.replay.live_peak == fitted.profile.u_max
    assert fitted.paths.report.stat().st_size > 0
    assert (fitted.paths.code / "app_heap.c").exists()


def beginning(source: Path, folder: Path) -> Path:
    """The first lines of a long recording as a file of their own, a short one as it is."""
    if not source.name.endswith((".heap.gz", ".pkt.gz")):
        return source
    with gzip.open(source, "rt") as text:
        lines = list(islice(text, LINES))
    if len(lines) < LINES:
        return source
    cut = folder / source.name
    with gzip.open(cut, "wt", compresslevel=1) as text:
        text.writelines(lines)
    return cut


@pytest.mark.parametrize("source", FITTED, ids=named)
def test_a_recording_is_fitted(source, tmp_path, tmp_path_factory):
    check_fit(beginning(source, tmp_path_factory.mktemp("beginning")), tmp_path)


def test_a_made_up_recording_is_fitted(made_up, tmp_path):
    check_fit(made_up, tmp_path)


def test_the_corpus_holds_what_the_table_refuses():
    """So that the table cannot go stale, nor a corpus lose files, unnoticed."""
    refused = {path.name for path in recordings()} & set(REFUSED)
    assert refused == (set(REFUSED) if CORPUS else set())


def test_what_cannot_be_fitted_is_one_line_and_leaves_nothing(tmp_path):
    for source in recordings():
        if source.name in REFUSED:
            with pytest.raises(HeapfitError) as caught:
                fit([source], tmp_path / source.name)
            message = str(caught.value)
            assert message.startswith(f"{source}: ")
            assert REFUSED[source.name] in message
            assert "\n" not in message
            assert not (tmp_path / source.name).exists()


def test_table_2_fits_in_what_the_prototypes_needed(made_up, tmp_path):
    """Lee and Yi, table 2, workload 4: t2_w4, or without a corpus a walk of the same law."""
    source = Path(CORPUS) / "synthetic" / "t2_w4.heap.gz" if CORPUS else made_up
    every = FitOptions(whole=True)
    rows = {row.name: row for row in fit([source], tmp_path, every).comparison.rows}
    u_max = rows["tlsf"].u_max
    assert rows["tlsf"].r_safe <= 1.19 * u_max
    assert rows["tlsf"].r_min <= 1.16 * u_max
    assert rows["budgeted_4_largest"].r_safe <= 1.05 * u_max
