# SPDX-License-Identifier: Apache-2.0
"""Where the C of images and the core they are built from lie: a checkout of heapfit."""

from __future__ import annotations

from pathlib import Path

from heapfit.errors import HeapfitError


def root() -> Path:
    """The checkout this package is installed from; HeapfitError if it is not."""
    found = Path(__file__).resolve().parents[3]
    if not (found / "target/board/semihost.c").is_file():
        raise HeapfitError(
            "the sources of target images are not here (install heapfit from a checkout: "
            "pip install --editable)"
        )
    return found
