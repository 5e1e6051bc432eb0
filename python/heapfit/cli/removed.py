# SPDX-License-Identifier: Apache-2.0
"""Commands and options that are no more, and what does their work now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# By command and option; "" is the command itself.
REMOVED: Final[Mapping[tuple[str, str], str]] = {
    (
        "place",
        "--hot",
    ): "none: how often a block is used is unknown, and shares are of requests",
}
