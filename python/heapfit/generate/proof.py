# SPDX-License-Identifier: Apache-2.0
"""Proofs of a generated folder's C, of its very text, by Frama-C's WP: what proofs/ states.

The contracts are beside the text, in proofs/linked_blocks.c, what follows for any sequence of calls
in proofs/budget.c and proofs/live_block.c, and proofs/model stands for the region. They hold for
every count, size and place of blocks; that a plan's pools are among them is a goal for each
(proof_numbers.py).
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
from heapfit.external_tool import run
from heapfit.generate.core_files import core_folder
from heapfit.generate.proof_numbers import goals_of

PROVEN = "src/pools/linked_blocks.h"
# Each a file and what is proven of it, of functions that there is no run-time error either. Lemmas
# slow the proof of all that lies in a file with them: so live_block.c is a file of its own.
_OF_LEMMAS = ("live_block.c", "-wp-prop", "@lemma")
_OF_FUNCTIONS = (
    "linked_blocks.c", "-wp-rte", "-wp-fct", "used_bit_of,offset_in_run,take_linked,put_linked",
)  # fmt: skip
_OF_BUDGET = (
    "budget.c", "-wp-rte", "-wp-fct",
    "begins_in_order,take_free,request,put_used,put_in_order,one_more_leads,give_back",
)  # fmt: skip
_OF_LIVE_BLOCK = ("live_block.c", "-wp-rte", "-wp-fct", "write_to_live_block")
_TOOLS = ("frama-c", "why3", "cvc4", "z3")
_PACKAGES = "Debian: frama-c-base why3 cvc4 z3"
_PROVER = "cvc4"  # proves all but the lemmas and what rests on them
_PROVERS = "cvc4,z3"
_SECONDS = 20  # that a prover may take for a goal; the longest takes about 1
_MUTANT_SECONDS = 8  # the same where a goal is to stay open
# What WP says of a goal left open: of one prover that it timed out or knows no answer, of several
# that all failed.
_LEFT = re.compile(r"^\[wp\] \[[^]]+\] Goal (\S+)(?! : Valid)(?: |$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Proof:
    """The number of goals of a proof, and the names of those that no prover proved."""

    goals: int
    left: tuple[str, ...]

    @property
    def proven(self) -> int:
        """The number of goals that a prover proved."""
        return self.goals - len(self.left)


def require_provers() -> None:
    """HeapfitError, which names what is missing, unless all tools of a proof are installed."""
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing:
        raise HeapfitError(f"--prove: not installed: {', '.join(missing)} ({_PACKAGES})")


def prove_folder(folder: Path) -> Proof:
    """Proves a folder that `generate` wrote, with the numbers of its tables: two minutes.

    HeapfitError if the tools are not installed, or nothing in the folder has a proof.
    """
    require_provers()
    if not (folder / PROVEN).is_file():
        raise HeapfitError(f"--prove: proofs exist for pools only: the folder has no {PROVEN}")
    numbers = prove_numbers(folder)
    if numbers.left:
        return numbers
    return _join([numbers, prove(_own_proofs(), [folder])])


def prove_numbers(folder: Path) -> Proof:
    """Proves that the tables of a folder meet the premises of the contracts: a few seconds."""
    names, text = goals_of(folder)
    tables = [name for name in names if name.startswith("table_")]
    pools = [name for name in names if name not in tables]
    return _join([prove_goals(folder, tables, text, "qed"), prove_goals(folder, pools, text)])


def prove_goals(folder: Path, names: Sequence[str], text: str, prover: str = _PROVERS) -> Proof:
    """Proves C functions that state a folder's numbers (proof_numbers.py).

    `prover` qed is enough for goals in bare numbers, and does not try those that are false.
    """
    with tempfile.TemporaryDirectory() as scratch:
        numbers = Path(scratch) / "numbers.c"
        numbers.write_text(f'#include "{_own_proofs() / "layout.h"}"\n{text}')
        return _prove_part(
            _own_proofs(), [folder], (str(numbers), "-wp-fct", ",".join(names)), prover
        )


def _own_proofs() -> Path:
    return core_folder().parent / "proofs"


def prove(proofs: Path, includes: Sequence[Path]) -> Proof:
    """Proves the lemmas, then the functions in `includes`, by the contracts of `proofs`."""
    return _join(
        [
            *(_prove_part(proofs, includes, part) for part in (_OF_LEMMAS, _OF_LIVE_BLOCK)),
            *(_prove_part(proofs, includes, part, _PROVER) for part in (_OF_FUNCTIONS, _OF_BUDGET)),
        ]
    )


def _join(parts: Sequence[Proof]) -> Proof:
    left = tuple(name for part in parts for name in part.left)
    return Proof(sum(part.goals for part in parts), left)


def _prove_part(
    proofs: Path, includes: Sequence[Path], what: Sequence[str], prover: str = _PROVERS
) -> Proof:
    """The result of one run of WP."""
    text = "".join(_run_wp(proofs, includes, what, _SECONDS, prover))
    found = re.search(r"Proved goals:\s*(\d+) / (\d+)", text)
    if found is None:
        last = (text.strip().splitlines() or ["no message"])[-1]
        raise HeapfitError(f"{includes[0]}: frama-c cannot read {PROVEN}: {last}")
    proof = Proof(int(found[2]), tuple(_LEFT.findall(text)))
    if proof.proven != int(found[1]):
        raise HeapfitError(f"{includes[0]}: frama-c names not all goals that are left: {found[0]}")
    return proof


def is_proven(proofs: Path, includes: Sequence[Path], seconds: int = _MUTANT_SECONDS) -> bool:
    """True if the functions keep their contracts; ends at the first goal that stays open.

    `seconds`: that a prover may take for a goal.
    """
    said = False
    for line in _run_wp(proofs, includes, _OF_FUNCTIONS, seconds, _PROVER):
        said = said or "Proved goals" in line
        if _LEFT.match(line):
            return False
    return said


@contextmanager
def _provers() -> Iterator[dict[str, str]]:
    """An environment in which the provers were detected anew, free of a user's settings."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {"WHY3CONFIG": f"{scratch}/why3.conf", "PATH": "/usr/bin:/bin"}
        run(["why3", "config", "detect"], Path(scratch), environment=environment)
        yield environment


def _run_wp(
    proofs: Path, includes: Sequence[Path], what: Sequence[str], seconds: int, prover: str
) -> Iterator[str]:
    """The lines that one run of WP prints; it ends when the caller takes no more."""
    flags = " ".join(f'-I"{path.resolve()}"' for path in [proofs / "model", *includes])
    command = ["frama-c", "-c11", f"-cpp-extra-args={flags}", "-wp", "-wp-prover", prover,
               "-wp-timeout", str(seconds), "-wp-par", "2", *what[1:],
               str(proofs / what[0])]  # fmt: skip
    with (
        _provers() as environment,
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, start_new_session=True) as process,
    ):  # fmt: skip
        try:
            yield from process.stdout or ()
        finally:
            with suppress(ProcessLookupError):  # where it has ended
                os.killpg(process.pid, signal.SIGKILL)  # its provers, too
