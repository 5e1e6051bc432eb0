# SPDX-License-Identifier: Apache-2.0
"""The proof of core's size arithmetic: it holds, not of text with a fault. 15 s of the solvers."""

import pytest

from grid import ALL
from mutants.mutant import Mutant
from prove_sizes import UnreadError, claims, mutants, proven_claims, term, verdict


def test_sizes_are_rounded_as_stated_for_all_sizes_and_alignments() -> None:
    share = 1 if ALL else 2
    assert len(claims()) == 6
    assert proven_claims(share) == 6 // share


@pytest.mark.parametrize(
    ("was", "becomes"), [(">", ">="), ("<=", "<"), ("1", "(1 + 1)"), ("-", "+")]
)
def test_a_fault_has_a_counterexample(was: str, becomes: str) -> None:
    faults: list[Mutant] = [one for one in mutants() if (one.was, one.becomes) == (was, becomes)]
    assert faults
    assert verdict(faults[0]) == "fails"


def test_an_instruction_that_is_not_known_is_not_taken_for_another() -> None:
    for operation in ("load i32, i32* %3, align 4", "udiv i32 %0, %1", "call i32 @f(i32 %0)"):
        with pytest.raises(UnreadError):
            term(operation, "3")
