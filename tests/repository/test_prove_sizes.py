# SPDX-License-Identifier: Apache-2.0
"""The proofs of core's size arithmetic and of good_fit: they hold, not of text with a fault."""

import pytest

import prove_heap
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


HEAP_FAULTS = [
    ("release", "!=", "=="),
    ("chunk_for", "<", ">="),
    ("use", "needed = free_size(word);", ";"),
    ("is_used_sound", "||", "&&"),
    ("list_push_before", "store_previous(heap, chunk, head);", ";"),
]


def test_good_fit_keeps_its_invariant_in_every_state_of_small_regions() -> None:
    told = list(prove_heap.told(prove_heap.INCLUDES, next(prove_heap.settings()), "small"))
    assert [holds for _, holds in told] == [True] * 3
    assert "alignment 8, regions to 212 bytes: 8210 states, 1578737 calls" in told[0][0]


@pytest.mark.parametrize(("function", "was", "becomes"), HEAP_FAULTS)
def test_a_fault_of_good_fit_is_refuted(function: str, was: str, becomes: str) -> None:
    faults = [one for one in prove_heap.mutants() if one.function == function]
    drawn = next(one for one in faults if (one.was, one.becomes) == (was, becomes))
    assert prove_heap.verdict(drawn) == "fails"
