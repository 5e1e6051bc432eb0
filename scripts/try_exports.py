# SPDX-License-Identifier: Apache-2.0
"""Opens exports in the tools that they are for, installed for the time of the run.

go tool pprof prints the totals of `sites`; speedscope, from npm, shows our frames in Chromium.
"""

import base64
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from chromium import Chromium  # noqa: E402 (of the tests' folder)
from heapfit.importers.record import record  # noqa: E402
from heapfit.trace.exports import export_holdings  # noqa: E402
from heapfit.trace.exports.samples import holdings_by_site  # noqa: E402
from heapfit.trace.kinds import Export, View  # noqa: E402
from heapfit.trace.loaded import load_trace  # noqa: E402

SPEEDSCOPE = "speedscope@1.25.0"


def run(*words: str, folder: Path) -> str:
    return subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stdout


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        quiet = ["sort", "/dev/null"]  # asks for memory and prints nothing
        trace = record(quiet, folder / "sort.parquet", depth=4).trace
        assert trace is not None
        holdings = holdings_by_site(load_trace(trace), View.PEAK)
        total = sum(one.size for one in holdings.holders)
        (folder / "sort.pb.gz").write_bytes(export_holdings(holdings, Export.PPROF))
        told = run("go", "tool", "pprof", "-top", "-unit=B", "sort.pb.gz", folder=folder)
        shown = re.search(r"([\d.]+)B total", told)
        assert shown and float(shown[1]) == total, told
        print(f"go tool pprof: {total:,} B, as `sites` has them")
        folded = export_holdings(holdings, Export.FOLDED)
        run("npm", "install", "--silent", SPEEDSCOPE, folder=folder)
        frames = open_in_speedscope(folder, folded)
        outer = {line.split(";")[1] for line in folded.decode().splitlines()}
        assert outer <= frames, outer - frames
        print(f"{SPEEDSCOPE}: {len(frames)} frames, ours among them")


def open_in_speedscope(folder: Path, folded: bytes) -> set[str]:
    """The names in the table of speedscope's view Sandwich, which lists every frame."""
    page = folder / "node_modules/speedscope/dist/release/index.html"
    content = base64.b64encode(folded).decode()
    script = folder / "profile.js"
    script.write_text(f"speedscope.loadFileFromBase64('sort.folded', '{content}')")
    with Chromium(folder / "profile", 1400, 4000) as browser:
        url = f"{page.as_uri()}#view=sandwich&localProfilePath={str(script).lstrip('/')}"
        browser.ask("Page.navigate", url=url)
        browser.wait_for("document.querySelectorAll('tr').length > 3")
        rows = browser.run("[...document.querySelectorAll('tr')].map(one => one.innerText)")
    assert isinstance(rows, list)
    return {word for row in rows for word in row.split()}


if __name__ == "__main__":
    main()
