# SPDX-License-Identifier: Apache-2.0
"""Proves what proofs/ states of core's text: goals proven, of all. Two minutes on two cores.

    scripts/prove.py                core
    scripts/prove.py --mutants N    N drawn mutants of core's text, which are all to fail

A generated folder is proven by `heapfit generate --prove`.
"""

import random
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.generate.proof import PROVEN, Proof, is_proven, prove, require_provers

ROOT = Path(__file__).resolve().parents[1]
PROOFS = ROOT / "proofs"
INCLUDES = [ROOT / "core", ROOT / "core/include"]
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


def core_proof() -> Proof:
    """Of core as it lies here."""
    return prove(PROOFS, INCLUDES)


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
    text = (ROOT / "core" / PROVEN).read_text()
    survivors = 0
    for where, changed in random.Random(SEED).sample(list(mutants(text)), count):
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / PROVEN
            copy.parent.mkdir(parents=True)
            copy.write_text(changed)
            proven = is_proven(PROOFS, [Path(scratch), *INCLUDES])
        survivors += proven
        print(f"{'proven' if proven else 'fails'}: {where}", flush=True)
    print(f"{count - survivors} of {count} mutants fail")
    return survivors


def main() -> None:
    """Exit code 1 if a goal is left, a mutant is proven or the tools are missing."""
    try:
        require_provers()
        if sys.argv[1:2] == ["--mutants"]:
            sys.exit(try_mutants(int(sys.argv[2])) > 0)
        proof = core_proof()
    except HeapfitError as error:
        sys.exit(f"prove: {error}")
    print(f"{proof.proven} of {proof.goals} goals proven", *proof.left, sep="\n")
    sys.exit(bool(proof.left))


if __name__ == "__main__":
    main()
