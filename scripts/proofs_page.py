# SPDX-License-Identifier: Apache-2.0
"""Prints docs/proofs.md, with what scripts/prove.py proves; --check compares. A minute or two."""

import sys
from pathlib import Path

from prove import core_proof
from prove_sizes import claims, proven_claims

ROOT = Path(__file__).resolve().parents[1]

PAGE = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by scripts/proofs_page.py, which runs the proof. -->
# What is proven, what is bounded, what is tested

{goals}, for every count of blocks, size
and place; no axiom, nothing admitted.

## Proven: one call, for every pool

`core/src/pools/linked_blocks.h` is the text by which `fixed_pool`, `budgeted` and `class_pools`
take a block of a free list and put it back, from safety level 1 on. Frama-C's WP reads it as it
ships; contracts lie beside it in `proofs/linked_blocks.c`:

- Taking succeeds just where the list names a block of the pool whose used bit is clear. Then just
  that bit is set, and the list goes on as the block's first word said; else not a word changes.
- Putting back succeeds just where the block's used bit is set. Then just that bit is cleared, and
  the block is the list's first; else not a word changes.
- Every access is a whole word inside the pool's own words, no sum wraps, and there is no run-time
  error.

So whatever the list holds, *nothing is handed out twice*: a block goes out only with its bit clear,
and leaves it set. *A bad free changes nothing*, where the address leads to a bit that is clear.

## Proven: a request within its budget

`proofs/budget.c` states an invariant of the pool as a whole: the list holds just the blocks whose
bits are clear, each once. It is proven that

- the list that init makes has it (`begins_in_order`);
- a request succeeds just where a block is left, and a free of a live block succeeds; both keep it;
- what a program writes to a block it holds keeps it (`proofs/live_block.c`).

So after any sequence of such calls *a request within its budget is never refused*: while fewer
blocks are live than the pool has, the next is served.

`heapfit generate PLAN --prove` proves a folder's own copy, and of each pool of its tables, as a
goal of its own, that its list, used bits, base, size and count are such as the contracts are of.
A plan
whose free blocks are found by their bits (`search = 0`) is refused: the proof is not about it.

    scripts/prove.py                core
    scripts/prove.py --mutants 20   20 drawn changes of the text: none may be proven

Outside this proof: the cast of the region's bytes to words (`load_word`, `store_word`), `volatile`,
the way from an address to a block's number, the rules that lead a size to its pool, that init's
loop leaves what `begins_in_order` asks, and the step from single calls to sequences of them, which
is induction on paper.

## Bounded: sequences

What is outside is tried in full on small pools: `tests/core/test_bounded.c` makes every sequence of
five requests and frees on four blocks, of `fixed_pool`, and of `budgeted` and exact `class_pools`
with two pools of two. Requests are of ten classes of sizes, frees of every address of the region;
live blocks are overwritten. The explorer (`tests/attack/explorer.c`) visits all states of larger
heaps.

CBMC reads the same file with operations, sizes and addresses left open. **Not run in CI**, nor run
yet: Debian 12 has no package of it, and PyPI's of that name is another program.

## Proven: sizes

`round_sum`, `round_size` (`core/src/size.h`) and `rounded_up` (`core/src/pools/layout.h`) are all
that adds to a size. It is proven, for every size, every sum and every alignment, that what they
store is the least multiple of the alignment that is not below the sum, and that they refuse just
where that is above `HFIT_LARGEST_BLOCK`: {sizes} of {claims} claims, three functions with a
`size_t` of 64 and of 32 bits. WP's provers know too little of bits for it; so it is shown of the
code that clang makes of the text, read as bit-vectors, by z3 and by cvc4, in a few seconds.

    scripts/prove_sizes.py             core
    scripts/prove_sizes.py --mutants   every small fault of the three: none is proven

## Tested: sizes

`tests/core/test_sizes.c` holds the same, and a budget's class, against their definition. Each build
tries sizes around powers of two and every 4093rd; `test_sizes all` tries all of 32 bits.
"""


def main() -> None:
    """Prints the page; --check: exit code 1 if it is not the one that is there."""
    proof = core_proof()
    page = PAGE.format(
        goals=f"{proof.proven} of {proof.goals} goals are proven",
        sizes=proven_claims(),
        claims=len(claims()),
    )
    if sys.argv[1:] != ["--check"]:
        print(page, end="")
    elif page != (ROOT / "docs/proofs.md").read_text():
        sys.exit("docs/proofs.md: run scripts/proofs_page.py >docs/proofs.md")


if __name__ == "__main__":
    main()
