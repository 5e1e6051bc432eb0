# SPDX-License-Identifier: Apache-2.0
"""Commands and options that are gone, and what does their work now."""

from collections.abc import Mapping
from typing import Final

# By command and option; without an option the command itself is gone.
REMOVED: Final[Mapping[tuple[str, str], str]] = {
    ("", "--install-completion"): "--show-completion bash, zsh or fish prints what to source",
    ("design", ""): "fit --plans FOLDER",
    ("front", ""): "fit RECORDING --all --json",
    ("size traffic", ""): "size FILE",
    ("size settings", ""): "settings",
    ("league", ""): "bench/league.py of a checkout makes its tables",
    ("adversary", ""): "bounds TRACE --plan PLAN says the worst that its search finds",
    ("generate", "--amalgamate"): "generate --for one-file",
    ("generate", "--language"): "generate --for c++ or rust",
    ("record", "--icount"): "record --machine '-icount shift=6,sleep=off'",
    ("verify", "--icount"): "verify --machine '-icount shift=6,sleep=off'",
    ("import", "--resize"): "import --line 'TEXT', which is a resize where it has {old}",
    ("import", "--whole-only"): "import keeps what is whole; --json tells in notes what was cut",
    ("compare", "--allocators"): "compare RECORDING ALLOCATOR..., or all",
    ("size", "--admission-by"): "size --json has what is admitted, of bytes",
    ("size", "--overall"): "size --admission is of each pool's own requests",
    ("size", "--overhead"): "simulate SCENARIO, whose plans have overhead",
    ("size", "--closed-form"): "simulate SCENARIO --closed-form",
    ("place", "--hot"): "place --admission counts requests",
    ("compare", "--output"): "bench/league.py of a checkout makes its tables",
    ("compare", "--crates"): "compare --plugin FOLDER takes a crate, such as bench/crates/talc",
    ("compare", "--board"): "python -m harness plugin, from a checkout, counts on the board",
    ("compare", "--events"): "bench/league.py --events N, from a checkout",
    ("compare", "--designs"): "fit --all measures the plans that it learns",
    ("compare", "--no-designs"): "compare RECORDING ALLOCATOR... measures these alone",
    ("fit", "--front"): "fit --all --json marks the rows that no other beats",
    ("fit", "--by"): "fit --all --json has every measure of every row",
    ("fit", "--sram"): "compare RECORDING --sram FILE",
    ("fit", "--each"): "fit RECORDING, once for each",
    ("fit", "--objective"): "fit serves all recordings; leave out those that need not be served",
    ("fit", "--folds"): "fit checks several recordings in up to 8 folds",
    ("fit", "--budgets"): "fit tries greedy and exact budgets; --effort quick only the first",
    ("fit", "--exact"): "compare RECORDING --exact",
    ("fit", "--search"): "fit without it; the answer is the same",
    ("fit", "--cache"): "fit without it; the answer is the same",
}
