# SPDX-License-Identifier: Apache-2.0
"""Commands and options of earlier versions, and what does their work now."""

from collections.abc import Mapping
from typing import Final

# By command and option, "" for the command itself.
REMOVED: Final[Mapping[tuple[str, str], str]] = {
    ("fit", "--front"): "fit --all --json marks the rows that no other beats",
    ("fit", "--by"): "fit --all --json has every measure of every row",
    ("fit", "--sram"): "compare RECORDING --sram FILE",
    ("fit", "--each"): "fit RECORDING, once for each",
    ("fit", "--objective"): "fit serves all recordings; leave out those that need not be served",
    ("fit", "--folds"): "fit checks several recordings in up to 8 folds",
    ("fit", "--budgets"): "fit tries greedy and exact budgets; --effort quick only the first",
    ("fit", "--exact"): "compare RECORDING --exact",
    ("fit", "--cache"): "fit without it; the answer is the same",
}
