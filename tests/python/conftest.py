# SPDX-License-Identifier: Apache-2.0
"""What tests of generated folders share."""

import pytest

import program


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's code sizes, which cost compilations, are test_generate's business."""
    monkeypatch.setattr(program, "measures", False)
    program.leave_unmeasured(monkeypatch.setattr)
