# SPDX-License-Identifier: Apache-2.0
"""The site is made from the pages and the code, without a warning, and asks for no network.

All pages are read once, with warnings as errors; of HTML, the longer part, some are written.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import heapfit
from heapfit.cli.main import all_commands
from heapfit.sizing.systems import SYSTEMS
from site_build import build
from site_pages import with_links

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = ("index.md", "docs/tutorial.md", "reference/commands/fit.md")
# What a browser fetches by itself: not the links that a reader may follow.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|audio|video)[^>]*\bsrc=["']?(\S+?)["'\s>]"""
    r"""|<link[^>]*\bhref=["']?(\S+?)["'\s>]|url\(["']?([^)"']+)|@import +["'](\S+?)["']"""
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert build(folder, "dummy") == 0
    return folder


def test_every_page_is_on_the_site_in_a_list(built: Path) -> None:
    """One that is in no list is a warning, and so is a link that leads nowhere."""
    assert len(list((built / "source").rglob("*.md"))) > 100


def test_every_command_name_and_header_has_its_place(built: Path) -> None:
    reference = built / "source/reference"
    commands = {path.stem for path in (reference / "commands").glob("*.md")}
    assert commands == set(all_commands())
    names = re.findall(r"^### `(\w+)`", (reference / "python-names.md").read_text(), re.MULTILINE)
    assert sorted(names) == [name for name in dir(heapfit) if name != "__version__"]
    assert " at 0x" not in (reference / "python-names.md").read_text()  # else each build differs
    systems = re.findall(r"^## ([\w-]+)", (reference / "settings.md").read_text(), re.MULTILINE)
    assert systems == list(SYSTEMS)
    headers = {path.stem for path in (ROOT / "core/include/hfit").glob("*.h")}
    assert headers < {path.stem for path in (reference / "c").glob("*.md")}


def test_a_command_shows_its_help_and_where_pages_run_it(built: Path) -> None:
    page = (built / "source/reference/commands/compare.md").read_text()
    assert "Usage: heapfit compare" in page
    assert "heapfit compare mine.parquet tlsf" in page


def test_pages_open_without_a_network(built: Path) -> None:
    html = built / "html-of-some"
    words = [sys.executable, "-m", "sphinx", "--quiet", "-d", built / "doctrees", built / "source"]
    pages = [built / "source" / name for name in WRITTEN]
    subprocess.run([*words, html, *pages], check=True, stderr=subprocess.DEVNULL)
    files = [*html.rglob("*.html"), *html.rglob("*.css")]
    assert {html / name.replace(".md", ".html") for name in WRITTEN} <= set(files)
    fetched = {
        "".join(found) for file in files for found in FETCHED.findall(file.read_text("utf-8"))
    }
    assert len(fetched) > 5
    assert [one for one in fetched if re.match(r"(?:\w+:)?//", one)] == []
    texts = json.loads(
        (html / "_static/texts.js").read_text("utf-8")[len("const pageTexts = ") : -2]
    )
    assert "a small server as devices have them" in texts["docs/tutorial"]
    assert "SPDX" not in texts["docs/tutorial"]


def test_the_first_page_has_three_doors_before_the_list_of_pages(built: Path) -> None:
    first = (built / "source/index.md").read_text()
    assert "| I have firmware | I have a Linux program | I compare allocators |" in first
    assert "\n- [" not in first
    assert "\n## Fit a heap\n" in (built / "source/all-pages.md").read_text()


def test_a_link_to_what_is_no_page_becomes_its_name() -> None:
    names = ["README.md", "docs/README.md", "docs/a.md", "examples/x/README.md"]
    text = (
        "[a](a.md#b) [code](../core/a.c) [up](README.md) [x](../examples/x)\n```\n[c](d.c)\n```\n"
    )
    assert with_links("docs/b.md", text, names) == (
        "[a](a.md#b) code (`core/a.c`) [up](../index.md) [x](../examples/x/README.md)\n"
        "```\n[c](d.c)\n```\n"
    )
