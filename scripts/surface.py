# SPDX-License-Identifier: Apache-2.0
"""Prints how large the package is and fails where that is not what scripts/surface.toml has.

    surface.py            what `make style` prints
    surface.py --renew    writes the numbers anew, as `make docs` does

What rises needs its reason in the commit: what it replaces, or why nothing could do its work. Lines
are counted in steps of 500, so that most changes leave the file alone.
"""

import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from list_options import OptionCounts, count_options, describe_ambiguous

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "scripts/surface.toml"
PACKAGE = "python/heapfit"
STEP = 500  # lines
HEAD = """# SPDX-License-Identifier: Apache-2.0
# The package's size, as `make docs` writes it. A commit in which a number rises says why.
"""


def sizes_of(files: list[Path], options: OptionCounts) -> dict[str, int]:
    """The numbers that stand in the file, by name."""
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    return {
        "lines": -(-lines // STEP) * STEP,
        "modules": len(files),
        "commands": options.commands,
        "options": options.entries,
        "option_names": options.names,
        "option_names_with_two_meanings": len(options.ambiguous),
    }


def differences(sizes: Mapping[str, int], known: Mapping[str, int]) -> Iterator[str]:
    """What has risen or fallen, and what is to be done about it.

    >>> list(differences({"options": 3}, {"options": 2}))
    ['options rose from 2 to 3: run `make docs`, and say in the commit why']
    >>> list(differences({"options": 2}, {"options": 3}))
    ['options fell from 3 to 2: run `make docs`']
    """
    for name, size in sizes.items():
        before = known.get(name, 0)
        if size > before:
            yield f"{name} rose from {before} to {size}: run `make docs`, and say in the commit why"
        elif size < before:
            yield f"{name} fell from {before} to {size}: run `make docs`"


def main() -> None:
    """Prints and compares, or renews."""
    options = count_options()
    sizes = sizes_of(sorted((ROOT / PACKAGE).rglob("*.py")), options)
    table = "".join(f"{name} = {size}\n" for name, size in sizes.items())
    if sys.argv[1:] == ["--renew"]:
        FILE.write_text(HEAD + table)
    print(table, end="")
    print(*describe_ambiguous(), sep="\n")
    sys.exit("\n".join(differences(sizes, tomllib.loads(FILE.read_text()))) or None)


if __name__ == "__main__":
    main()
