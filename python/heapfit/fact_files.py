# SPDX-License-Identifier: Apache-2.0
"""Facts about other people's programs and systems, which lie as TOML beside the modules' code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any


def read_facts(module: str, name: str) -> dict[str, Any]:
    """The file of this name beside a module: `read_facts(__file__, "systems.toml")`."""
    return tomllib.loads(Path(module).with_name(name).read_text("utf-8"))


def read_rules(module: str, name: str) -> dict[str, re.Pattern[str]]:
    """The regular expressions in such a file's table `rule`; several lines are one, joined."""
    rules = read_facts(module, name)["rule"]
    return {sign: re.compile("".join(rule)) for sign, rule in rules.items()}
