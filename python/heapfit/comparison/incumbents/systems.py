# SPDX-License-Identifier: Apache-2.0
"""The facts about the heaps of systems, a table of systems.toml each, by the names users type."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

SYSTEM_HEAPS: Final[Mapping[str, Mapping[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("systems.toml").read_text(encoding="utf-8")
)
