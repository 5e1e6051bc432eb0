# SPDX-License-Identifier: Apache-2.0
"""Proves what proofs/ states of core's text, or of a generated folder's: goals proven, of all.

    scripts/prove.py [FOLDER]       core, or a folder that `heapfit generate` wrote
    scripts/prove.py --mutants N    N drawn mutants of core's text, which are all to fail

Needs frama-c, why3, cvc4 and z3 (Debian: frama-c-base why3 cvc4 z3).
"""

import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "core"
PROVEN = "src/pools/linked_blocks.h"
FUNCTIONS = "used_bit_of,offset_in_run,take_linked,put_linked"
SECONDS = 20  # that a prover may take for a goal; the longest takes about 1
MUTANT_SECONDS = 8  # the same where a goal is to fail
TOOLS = ("frama-c", "why3", "cvc4", "z3")
SEED = 15

# What a mutant has in place of what the text says.
CHANGES = {
    " >= ": (" > ", " == "),
    " != ": (" == ",),
    " == ": (" != ",),
    " + ": (" - ",),
    " * ": (" + ",),
    " / 32": (" / 16",),
    " % 32": (" % 31",),
    " & ": (" | ",),
    " ^ ": (" | ", " & "),
    "1u << 31": ("1u << 30",),
    ">> place": ("<< place",),
    "4 * (place": ("8 * (place",),
    "return true": ("return false",),
    "return false": ("return true",),
    "heap, list, next": ("heap, list, number",),
    "heap, list, link": ("heap, list, offset",),
    "heap, offset, load": ("heap, list, load",),
    "run->first": ("run->base",),
    "run->base": ("run->first",),
}


@dataclass(frozen=True)
class Proof:
    """What WP said: goals, and the names of those that no prover proved."""

    goals: int
    failed: tuple[str, ...]

    def __str__(self) -> str:
        """One line, and one for each goal left open."""
        proven = self.goals - len(self.failed)
        return "\n".join([f"{proven} of {self.goals} goals proven", *self.failed])


def missing_tools() -> list[str]:
    """Those of the tools that are not installed."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def includes(folder: Path) -> list[Path]:
    """Where a copy of core has its headers: one folder in a generated folder, two in core."""
    return [ROOT / "proofs/model", folder, *([folder / "include"] if folder == CORE else [])]


@contextmanager
def provers() -> Iterator[dict[str, str]]:
    """An environment in which the provers were found anew, so nobody's settings are used."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {"WHY3CONFIG": f"{scratch}/why3.conf", "PATH": "/usr/bin:/bin"}
        subprocess.run(
            ["why3", "config", "detect"], env=environment, capture_output=True, check=True
        )
        yield environment


def wp(paths: list[Path], what: list[str], seconds: int) -> Iterator[str]:
    """The lines that one run of WP prints. It ends when the caller wants no more."""
    flags = " ".join(f'-I"{path}"' for path in paths)
    command = ["frama-c", f"-cpp-extra-args={flags}", "-wp", "-wp-prover", "cvc4,z3",
               "-wp-timeout", str(seconds), "-wp-par", "2", *what,
               str(ROOT / "proofs/linked_blocks.c")]  # fmt: skip
    with provers() as environment:
        run = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)  # fmt: skip
        try:
            yield from run.stdout or ()
        finally:
            run.terminate()
            run.wait()


OF_LEMMAS = ["-wp-prop", "@lemma"]
OF_FUNCTIONS = ["-wp-rte", "-wp-fct", FUNCTIONS]  # every access inside the region, too


def prove(paths: list[Path]) -> Proof:
    """The lemmas, then the functions."""
    goals = 0
    failed: list[str] = []
    for what in (OF_LEMMAS, OF_FUNCTIONS):
        text = "".join(wp(paths, what, SECONDS))
        found = re.search(r"Proved goals:\s*\d+ / (\d+)", text)
        goals += int(found[1]) if found else 1
        failed += re.findall(r"\[Failed\] Goal (\S+)", text) if found else [f"not read: {what[-1]}"]
    return Proof(goals, tuple(failed))


def is_proven(paths: list[Path]) -> bool:
    """True if the functions keep their contracts; ends at the first goal that is open."""
    said = ""
    for line in wp(paths, OF_FUNCTIONS, MUTANT_SECONDS):
        said = line if "Proved goals" in line else said
        if "[Failed]" in line:
            return False
    return said != ""


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """Each text that differs from this one's functions in one place, and what differs."""
    start = text.index("used_bit_of(")
    for old, news in CHANGES.items():
        for match in re.finditer(re.escape(old), text[start:]):
            at = start + match.start()
            number = text[:at].count("\n")
            if text.splitlines()[number].strip().startswith(("//@", "*", "/*")):
                continue
            for new in news:
                where = f"line {number + 1}: `{old.strip()}` to `{new.strip()}`"
                yield where, text[:at] + new + text[at + len(old) :]


def try_mutants(count: int) -> int:
    """How many of the drawn mutants are proven all the same."""
    text = (CORE / PROVEN).read_text()
    drawn = random.Random(SEED).sample(list(mutants(text)), count)
    survivors = 0
    for where, changed in drawn:
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / PROVEN
            copy.parent.mkdir(parents=True)
            copy.write_text(changed)
            proven = is_proven([ROOT / "proofs/model", Path(scratch), *includes(CORE)[1:]])
        survivors += proven
        print(f"{'proven' if proven else 'fails'}: {where}", flush=True)
    print(f"{count - survivors} of {count} mutants fail")
    return survivors


def main() -> None:
    """Exit code 1 if a goal is open or a mutant is proven, 2 without the tools."""
    if missing := missing_tools():
        print(f"prove: not installed: {', '.join(missing)}", file=sys.stderr)
        sys.exit(2)
    if sys.argv[1:2] == ["--mutants"]:
        sys.exit(try_mutants(int(sys.argv[2])) > 0)
    folder = Path(sys.argv[1]).resolve() if sys.argv[1:] else CORE
    if not (folder / PROVEN).is_file():
        print(f"{folder}: has no {PROVEN}: its plan has no pools", file=sys.stderr)
        sys.exit(1)
    proof = prove(includes(folder))
    print(proof)
    sys.exit(bool(proof.failed))


if __name__ == "__main__":
    main()
