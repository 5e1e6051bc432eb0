# SPDX-License-Identifier: Apache-2.0
"""Commands and options of earlier versions, and what does their work now."""

from collections.abc import Mapping
from typing import Final

# By the command and the option, which is empty where the whole command is gone.
REMOVED: Final[Mapping[tuple[str, str], str]] = {
    ("generate", "--amalgamate"): "generate --for one-file",
    ("place", "--hot"): "place --needs fast=site:HEX puts a call site that is used often inside",
    ("size", "--admission-by"): "size --json has what is admitted, of bytes",
    ("size", "--overall"): "size --admission is of each pool's own requests",
    ("size", "--overhead"): "simulate SCENARIO, whose plans have overhead",
    ("size", "--closed-form"): "simulate SCENARIO --closed-form",
}
