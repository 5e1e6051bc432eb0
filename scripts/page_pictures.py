#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/pictures/page-*.png: how each page begins, light; one dark, and one on a phone.

    scripts/page_pictures.py FOLDER     into which it also makes the pages, as bench/pages.py does

Every page that bench/pages.py measures has its picture, and docs/report.md shows all.
"""

from __future__ import annotations

import base64
import sys
from pathlib import Path

import numpy as np

from heap_map_picture import PICTURE, ROOT, png

sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]

from pages import DRAWN, PHONE, made_in  # noqa: E402  (bench/pages.py)

from chromium import Chromium  # noqa: E402  (the tests' browser)

PICTURES = PICTURE.parent
WIDTH, HEIGHT = 1000, 1400  # CSS pixels of what is shown
SCALE = 0.8
DARK, ON_PHONE = "fit", "check"  # shown in these ways, too

# The pixels of a PNG as RGBA: the browser that made it knows how to read it.
_PIXELS = """(async () => {
    const bytes = Uint8Array.from(atob("PNG"), (one) => one.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], {type: "image/png"}));
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    const pen = canvas.getContext("2d");
    pen.drawImage(picture, 0, 0);
    const {data} = pen.getImageData(0, 0, canvas.width, canvas.height);
    const url = await new Promise((done) => {
        const reader = new FileReader();
        reader.onload = () => done(reader.result);
        reader.readAsDataURL(new Blob([data]));
    });
    return [canvas.width, canvas.height, url.split(",")[1]];
})()"""


def main() -> None:
    """Makes the pages and draws each."""
    folder = Path(sys.argv[1]).resolve()
    pages = {name_of(one.relative_to(folder)): one for one in made_in(folder)}
    with Chromium(folder / "profile") as browser:
        for name, page in pages.items():
            draw(browser, page, PICTURES / f"page-{name}.png", (WIDTH, HEIGHT))
        browser.prefer("dark")
        draw(browser, pages[DARK], PICTURES / f"page-{DARK}-dark.png", (WIDTH, HEIGHT))
        browser.prefer("light")
        phone = (PHONE[0], HEIGHT)
        draw(browser, pages[ON_PHONE], PICTURES / f"page-{ON_PHONE}-phone.png", phone)


def name_of(page: Path) -> str:
    """What a page's picture is called: its folder, or the page where it lies in none.

    >>> name_of(Path("fits/report.html")), name_of(Path("check.html"))
    ('fits', 'check')
    """
    return Path(page.parts[0]).stem


def draw(browser: Chromium, page: Path, picture: Path, size: tuple[int, int]) -> None:
    """The first so many CSS pixels of a page, as it is in a window or on a phone."""
    browser.resize(size[0], 900, is_phone=size[0] < WIDTH)
    browser.open(page)
    browser.wait_for(DRAWN)
    shown = browser.picture(x=0, y=0, width=size[0], height=size[1], scale=SCALE)
    pixels = _PIXELS.replace("PNG", base64.b64encode(shown).decode(), 1)
    width, height, content = browser.run(pixels)
    colours = np.frombuffer(base64.b64decode(content), np.uint8).reshape(height, width, 4)
    picture.write_bytes(png(colours[..., :3]))


if __name__ == "__main__":
    main()
