# SPDX-License-Identifier: Apache-2.0
"""Prints how large the package is and fails where that is not what scripts/surface.toml has.

    surface.py            what `make style` prints
    surface.py --renew    writes the numbers anew, as `make docs` does

What rises needs its reason in the commit: what it replaces, or why nothing could do its work. Lines
are counted in steps of 500, so that most changes leave the file alone.
"""

import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from heapfit.cli.main import CommandGroup

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "scripts/surface.toml"
PACKAGE = "python/heapfit"
STEP = 500  # lines
HEAD = """# SPDX-License-Identifier: Apache-2.0
# The package's size, as `make docs` writes it. A commit in which a number rises says why.
"""
Texts = Mapping[str, Mapping[str, list[str]]]  # of each option: its help, and the commands with it


def option_texts() -> Texts:
    """All options of all commands but --help."""
    commands = CommandGroup()
    texts: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name in commands.modules:
        command = commands.get_command(None, name)
        for option in command.params:
            if option.param_type_name == "option":
                texts[max(option.opts, key=len)][option.help or ""].append(name)
    return texts


def sizes_of(files: list[Path], texts: Texts) -> dict[str, int]:
    """The numbers that stand in the file, by name."""
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    return {
        "lines": -(-lines // STEP) * STEP,
        "modules": len(files),
        "commands": len(CommandGroup().modules),
        "options": sum(len(commands) for text in texts.values() for commands in text.values()),
        "option_names": len(texts),
        "option_names_with_several_texts": sum(len(text) > 1 for text in texts.values()),
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


def describe_several(texts: Texts) -> Iterator[str]:
    """Options whose help differs between commands: one name should have one meaning."""
    for name, helps in sorted(texts.items()):
        if len(helps) > 1:
            yield f"  {name}"
            yield from (f"    {', '.join(names)}: {text}" for text, names in helps.items())


def main() -> None:
    """Prints and compares, or renews."""
    texts = option_texts()
    sizes = sizes_of(sorted((ROOT / PACKAGE).rglob("*.py")), texts)
    table = "".join(f"{name} = {size}\n" for name, size in sizes.items())
    if sys.argv[1:] == ["--renew"]:
        FILE.write_text(HEAD + table)
    print(f"{table}options with several texts, and the commands that have each:")
    print(*describe_several(texts), sep="\n")
    sys.exit("\n".join(differences(sizes, tomllib.loads(FILE.read_text()))) or None)


if __name__ == "__main__":
    main()
