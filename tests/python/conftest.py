# SPDX-License-Identifier: Apache-2.0
"""What tests of generated folders share."""

from contextlib import nullcontext

import pytest


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's code sizes, which cost compilations, are test_generate's business."""
    monkeypatch.setattr("heapfit.generate.link_images", lambda *_: nullcontext(()))
    monkeypatch.setattr("heapfit.generate.measure_code_sizes", lambda *_: [])
    monkeypatch.setattr("heapfit.generate.call_bounds", lambda *_: None)
