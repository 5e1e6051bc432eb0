# SPDX-License-Identifier: Apache-2.0
"""Where the C of images and the core they are built from lie: a checkout of heapfit."""

from __future__ import annotations

from pathlib import Path

from heapfit.errors import HeapfitError


def root() -> Path:
    """The checkout that this file lies in; HeapfitError if its C is not there."""
    found = Path(__file__).resolve().parents[2]
    if not (found / "target/board/semihost.c").is_file():
        raise HeapfitError(
            "the sources of target images are not here (run from a checkout of heapfit)"
        )
    return found


def allocator_source(name: str) -> str:
    """The source of an allocator, from the checkout's root."""
    here = root()
    for layer in ("core", "baselines", "papers"):
        for source in (here / layer / "src").rglob(f"{name}.c"):
            return source.relative_to(here).as_posix()
    raise HeapfitError(f"{name}: no source of that name in core, baselines or papers")
