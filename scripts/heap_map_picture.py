#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/pictures/heap-map.png: the heap map of the SQLite example, as its page shows it.

    scripts/heap_map_picture.py FOLDER     into which it also fits the example

Chromium draws; what it gives is stored with a palette, which takes a quarter.
"""

from __future__ import annotations

import base64
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from chromium import Chromium  # noqa: E402  (the tests' browser)
from heapfit.fitting.fit import fit  # noqa: E402
from heapfit.results.fit_page import write_report  # noqa: E402

PICTURE = ROOT / "docs/pictures/heap-map.png"
WIDTH = 1000  # CSS pixels of the page
MOST_COLOURS = 256

# Both canvases under their titles, as RGBA.
_DRAW = """(async () => {
    const maps = [...document.querySelectorAll("#heap-map canvas")];
    const [width, height] = [maps[0].width, maps[0].height + 30];
    const all = new OffscreenCanvas(width, height * maps.length);
    const pen = all.getContext("2d");
    pen.fillStyle = "#ffffff";
    pen.fillRect(0, 0, all.width, all.height);
    pen.fillStyle = "#17212b";
    pen.font = "600 16px system-ui, sans-serif";
    maps.forEach((map, i) => {
        pen.fillText(map.previousElementSibling.textContent, 8, i * height + 24);
        pen.drawImage(map, 0, i * height + 30);
    });
    const {data} = pen.getImageData(0, 0, all.width, all.height);
    const url = await new Promise((done) => {
        const reader = new FileReader();
        reader.onload = () => done(reader.result);
        reader.readAsDataURL(new Blob([data]));
    });
    return [all.width, all.height, url.split(",")[1]];
})()"""


def main() -> None:
    """Fits the example, draws its map and stores it."""
    folder = Path(sys.argv[1]).resolve()
    recording = ROOT / "examples/sqlite/sqlite.parquet"
    fitted = fit([recording], folder / "fit", write_page=write_report)
    with Chromium(folder / "profile") as browser:
        browser.resize(WIDTH, 900)
        browser.open(fitted.paths.report)
        browser.wait_for("'isDrawn' in document.getElementById('heap-map').dataset")
        width, height, pixels = browser.run(_DRAW)
    colours = np.frombuffer(base64.b64decode(pixels), np.uint8).reshape(height, width, 4)[..., :3]
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(png(colours))


def png(colours: NDArray[np.uint8]) -> bytes:
    """A picture with a palette of its commonest colours; others become the nearest of them."""
    height, width, _ = colours.shape
    known, of_pixel, counts = np.unique(
        colours.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    palette = known[np.argsort(-counts, kind="stable")[:MOST_COLOURS]]
    apart = (known[:, None, :].astype(np.int32) - palette.astype(np.int32)) ** 2
    nearest = apart.sum(axis=2).argmin(axis=1).astype(np.uint8)
    rows = nearest[of_pixel].reshape(height, width)
    unfiltered = np.zeros((height, 1), np.uint8)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    data = zlib.compress(np.hstack([unfiltered, rows]).tobytes(), 9)
    parts = ((b"IHDR", header), (b"PLTE", palette.tobytes()), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return (
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
    )


if __name__ == "__main__":
    main()
