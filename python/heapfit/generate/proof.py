# SPDX-License-Identifier: Apache-2.0
"""What proofs/ states of a folder's C, proven of that text as it lies there, by Frama-C's WP.

The contracts are beside the text, in proofs/linked_blocks.c, what follows for any sequence of calls
in proofs/budget.c and proofs/live_block.c, and proofs/model stands for the region. They hold for
every count, size and place of blocks, a plan's among them.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.generate.core_files import core_folder

PROVEN = "src/pools/linked_blocks.h"
# Each a file and what is proven of it, of functions that there is no run-time error either. Lemmas
# slow the proof of all that lies in a file with them: so live_block.c is a file of its own.
_OF_LEMMAS = ("live_block.c", "-wp-prop", "@lemma")
_OF_FUNCTIONS = (
    "linked_blocks.c", "-wp-rte", "-wp-fct", "used_bit_of,offset_in_run,take_linked,put_linked",
)  # fmt: skip
_OF_BUDGET = (
    "budget.c", "-wp-rte", "-wp-fct", "take_free,request,put_used,put_in_order,give_back",
)  # fmt: skip
_OF_LIVE_BLOCK = ("live_block.c", "-wp-rte", "-wp-fct", "write_to_live_block")
_TOOLS = ("frama-c", "why3", "cvc4", "z3")
_PACKAGES = "Debian: frama-c-base why3 cvc4 z3"
_SECONDS = 20  # that a prover may take for a goal; the longest takes about 1
_MUTANT_SECONDS = 8  # the same where a goal is to stay open


@dataclass(frozen=True, slots=True)
class Proof:
    """How many goals there are, and the names of those that no prover proved."""

    goals: int
    left: tuple[str, ...]

    @property
    def proven(self) -> int:
        """Goals that a prover proved."""
        return self.goals - len(self.left)


def require_provers() -> None:
    """HeapfitError, which names what is missing, unless all tools of a proof are installed."""
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing:
        raise HeapfitError(f"--prove: not installed: {', '.join(missing)} ({_PACKAGES})")


def prove_folder(folder: Path) -> Proof:
    """Proves a folder that `generate` wrote: one to three minutes.

    HeapfitError if the tools are not installed, or nothing in the folder has a proof.
    """
    require_provers()
    if not (folder / PROVEN).is_file():
        raise HeapfitError(f"{folder}: has no {PROVEN}: there is a proof for pools only")
    return prove(core_folder().parent / "proofs", [folder])


def prove(proofs: Path, includes: Sequence[Path]) -> Proof:
    """The lemmas, then the functions, with the contracts of `proofs`, of the text in `includes`."""
    goals = 0
    left: list[str] = []
    for what in (_OF_LEMMAS, _OF_FUNCTIONS, _OF_BUDGET, _OF_LIVE_BLOCK):
        text = "".join(_wp(proofs, includes, what, _SECONDS))
        found = re.search(r"Proved goals:\s*\d+ / (\d+)", text)
        if found is None:
            raise HeapfitError(f"{includes[0]}: frama-c cannot read {PROVEN}: {_last_line(text)}")
        goals += int(found[1])
        left += re.findall(r"\[Failed\] Goal (\S+)", text)
    return Proof(goals, tuple(left))


def is_proven(proofs: Path, includes: Sequence[Path]) -> bool:
    """True if the functions keep their contracts; ends at the first goal that is left."""
    said = False
    for line in _wp(proofs, includes, _OF_FUNCTIONS, _MUTANT_SECONDS):
        said = said or "Proved goals" in line
        if "[Failed]" in line:
            return False
    return said


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it says nothing"


@contextmanager
def _provers() -> Iterator[dict[str, str]]:
    """An environment in which the provers were found anew, so nobody's settings are used."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {"WHY3CONFIG": f"{scratch}/why3.conf", "PATH": "/usr/bin:/bin"}
        subprocess.run(
            ["why3", "config", "detect"], env=environment, capture_output=True, check=True
        )
        yield environment


def _wp(proofs: Path, includes: Sequence[Path], what: Sequence[str], seconds: int) -> Iterator[str]:
    """The lines that one run of WP prints. It ends when the caller wants no more."""
    flags = " ".join(f'-I"{path.resolve()}"' for path in [proofs / "model", *includes])
    command = ["frama-c", f"-cpp-extra-args={flags}", "-wp", "-wp-prover", "cvc4,z3",
               "-wp-timeout", str(seconds), "-wp-par", "2", *what[1:],
               str(proofs / what[0])]  # fmt: skip
    with (
        _provers() as environment,
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, start_new_session=True) as run,
    ):  # fmt: skip
        try:
            yield from run.stdout or ()
        finally:
            with suppress(ProcessLookupError):  # where it has ended
                os.killpg(run.pid, signal.SIGKILL)  # its provers, too
