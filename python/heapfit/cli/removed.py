# SPDX-License-Identifier: Apache-2.0
"""Commands and options of earlier versions, and what does their work now."""

from collections.abc import Mapping
from typing import Final

# By the command and the option, which is empty where the whole command is gone.
REMOVED: Final[Mapping[tuple[str, str], str]] = {
    ("design", ""): "fit --plans FOLDER",
    ("front", ""): "fit --front FOLDER",
    ("league", ""): "compare RECORDING... --output FOLDER",
    ("size traffic", ""): "size FILE",
    ("size settings", ""): "settings",
    ("", "--install-completion"): "--show-completion bash, zsh or fish prints what to source",
}
