# SPDX-License-Identifier: Apache-2.0
"""The pictures of pages: one of each page that bench/pages.py makes, small, and shown."""

import re
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs/pictures"
MOST = 150_000  # bytes of a picture

sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "bench")]

from pages import COMMANDS  # noqa: E402

from page_pictures import DARK, ON_PHONE, name_of  # noqa: E402


def test_every_page_has_its_picture_and_every_picture_is_shown():
    of_pages = [f"page-{name_of(Path(page))}.png" for page in COMMANDS]
    wanted = {*of_pages, f"page-{DARK}-dark.png", f"page-{ON_PHONE}-phone.png"}
    assert {one.name for one in PICTURES.glob("page-*")} == wanted
    shown = re.findall(r"\(pictures/(page-[a-z-]+\.png)\)", (ROOT / "docs/report.md").read_text())
    assert sorted(shown) == sorted(wanted)


def test_pictures_are_small_and_of_one_palette():
    for picture in PICTURES.iterdir():
        content = picture.read_bytes()
        assert len(content) <= MOST, picture.name
        if picture.suffix == ".svg":
            continue
        assert content.startswith(b"\x89PNG\r\n\x1a\n"), picture.name
        width, height, depth, colours = struct.unpack(">IIBB", content[16:26])
        assert (depth, colours) == (8, 3), picture.name
        assert width <= 2000
        assert height <= 2000
