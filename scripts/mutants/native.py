# SPDX-License-Identifier: Apache-2.0
"""A build of the copied tree by CMake and Ninja, in which a mutant costs what includes it."""

import hashlib
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

from mutants.tree import Tree

# A pointer for a number, or another's, is no fault anybody commits: gcc would only warn.
TYPES = ("-Werror=int-conversion", "-Werror=incompatible-pointer-types")
_TARGET = re.compile(r" -o (\S+)/CMakeFiles/([^/]+)\.dir/")


class Build:
    """One configuration of the tree, kept between runs."""

    def __init__(self, tree: Tree, name: str, options: list[str]) -> None:
        self.tree = tree
        self.folder = tree.top / "build" / name
        self.environment = {**os.environ, "CCACHE_BASEDIR": str(tree.top)}
        command = ["cmake", "-S", str(tree.top), "-B", str(self.folder), "-G", "Ninja", *options,
                   "-DHFIT_BUILD_TESTS=ON", "-DHFIT_INSTALL=OFF",
                   "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]  # fmt: skip
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        listed = json.loads((self.folder / "compile_commands.json").read_text())
        self.commands: dict[Path, list[dict[str, str]]] = {}  # by which a source is compiled
        self.programs: dict[str, list[str]] = {}  # that a file of tests is compiled for
        for one in listed:
            self.commands.setdefault(Path(one["file"]), []).append(one)
            made = _TARGET.search(one["command"])
            if made and f"{made[1]}/".startswith("tests/"):
                file = os.path.relpath(one["file"], tree.top)
                self.programs.setdefault(file, []).append(f"{made[1]}/{made[2]}")

    def build(self, targets: list[str]) -> bool:
        """Brings some targets up to date; False if one does not compile."""
        command = ["ninja", "-C", str(self.folder), "-j1", *targets]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.run(command, env=self.environment, check=False, **quiet).returncode == 0

    def made(self, files: list[str]) -> list[str] | None:
        """The hashes of some files, brought up to date; None if one does not compile."""
        if not self.build(files):
            return None
        contents = [(self.folder / file).read_bytes() for file in files]
        return [hashlib.sha256(content).hexdigest() for content in contents]

    def errors(self, source: Path) -> str:
        """What the compiler has against a source of C or C++, types included; nothing is made."""
        types = TYPES if source.suffix == ".c" else ()
        found = []
        for one in self.commands.get(source, ()):
            words = shlex.split(one["command"])
            launched = [i for i, word in enumerate(words) if Path(word).name == "ccache"]
            kept = words[launched[0] + 1 if launched else 0 : words.index("-o")]
            command = [*kept, *types, "-fmax-errors=0", "-fsyntax-only", str(source)]
            told = subprocess.run(
                command, cwd=one["directory"], check=False, capture_output=True, text=True
            )
            found.append(told.stderr if told.returncode else "")
        return "".join(found)
