# SPDX-License-Identifier: Apache-2.0
"""Prints docs/evidence/proofs.md with what scripts/prove.py proves; --check compares. Minutes."""

import sys
from pathlib import Path

from prove import core_proof
from prove_sizes import claims, proven_claims

ROOT = Path(__file__).resolve().parents[1]

PAGE = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by scripts/proofs_page.py, which runs the proof. -->
# What is proven, what is bounded, what is tested

This page is about the correctness of the allocators' C code. Pools are formally verified; other
parts are tried exhaustively on small heaps, or tested. Of pools {goals}, for every count of
blocks, every size and every place, without axioms or admitted steps.

## Proven: one call, for every pool

`core/src/pools/linked_blocks.h` is the code by which `fixed_pool`, `budgeted` and `class_pools`
take a block from a free list and put it back, from safety level 1 on. Frama-C's WP reads it as it
ships. Its contracts are in `proofs/linked_blocks.c`:

- Taking succeeds exactly if the list names a block of the pool whose used bit is clear. Then only
  that bit is set, and the list continues with the link in the block's first word. Otherwise no
  word changes.
- Putting back succeeds exactly if the block's used bit is set. Then only that bit is cleared, and
  the block becomes the first of the list. Otherwise no word changes.
- Every access is a whole word inside the pool's own words, no sum wraps, and there is no run-time
  error.

So whatever the list contains, *no block is allocated twice*: a block is taken only with its bit
clear, and then the bit is set. *A bad free changes nothing* if the address leads to a bit that is
clear.

## Proven: a request within its budget

`proofs/budget.c` states an invariant of the pool as a whole: the list holds exactly the blocks
whose bits are clear, each once. It is proven that

- the list that init makes satisfies it (`begins_in_order`);
- a request succeeds exactly if a block is free, and a free of a live block succeeds;
- both calls preserve it;
- what a program writes to a block it holds preserves it (`proofs/live_block.c`).

So after any sequence of such calls *a request within its budget never fails*: while fewer blocks
are live than the pool has, the next request is served.

`heapfit generate PLAN --prove` proves a generated folder's own copy, and the numbers of its tables.
For each pool it is a goal that

- the contracts apply: to its list, used bits, base, size and count;
- its blocks end inside the region, before the shared heap, and begin behind the control words;
- its blocks hold the largest request that it serves, and are aligned;
- each request's size leads, by the plan's index, to a pool that holds it;
- an offset leads to its block's number (the inverse of the block size).

For each pair of pools it is a goal that their blocks, used bits and lists are apart, and that no
used bit of one lies in a block of the other. If a goal is not proven, no folder is written. A plan
whose free blocks are found by their bits (`search = 0`) is rejected: the proof does not cover it.

Of 160 spoiled tables none is proven: 20 of each of four kinds (blocks that overlap, shared used
bits, blocks beyond the region, a size above the block's) of two plans
(`tests/python/test_proof.py`).

    scripts/prove.py                core
    scripts/prove.py --mutants 20   20 random changes of the text: none may be proven

This proof does not cover:

- the cast of the region's bytes to words (`load_word`, `store_word`), and `volatile`;
- the code from an address to a block's number, and from a size to its pool: of these the numbers
  that they read are proven, not the text;
- that the loop of init leaves what `begins_in_order` requires;
- that a call on one pool leaves the others in order: it changes words of its own pool only, and
  the numbers keep pools apart, but pools whose used bits share a word are joined on paper;
- the step from single calls to sequences of them, which is induction on paper;
- aligned requests and resizes, the shared heap behind the pools, and safety level 0;
- calls that overlap in time: the lock around them is the platform's;
- writes outside of live blocks, which may change lists and bits;
- that Python reads the tables as a C compiler does, and that WP, its provers, the C compiler and
  the processor are right.

## Proven: a general heap, in small regions

Of `good_fit` requests, frees, resizes and aligned requests are proven for all sequences of calls,
in regions of up to 236 bytes at alignment 8, 196 at 4 and 276 at 16; at level 0, and at 1 with and
without words checked; with pointers of 64 and of 32 bits. It is an induction over calls, and the
step is tried in full:

- *The invariant.* Chunks tile the heap up to its top; no two free ones touch, and none touches the
  top; each class's list holds exactly its free chunks, linked both ways; the maps tell which lists
  have any.
- *It holds at first.* `init` leaves it, in regions of every size up to these; smaller ones are
  rejected.
- *Each call keeps it.* `proofs/good_fit.c` makes every state that the invariant allows, whether
  calls lead there or not: each tiling, each choice of what is used, each order of each list:
  125,168 states in each build. In each state it makes every request, every free and every resize
  of every live block, and every aligned request up to 32: 165 million calls in all. Regions of
  1,020 bytes with two free chunks of different sizes in one class, in either order, are added.

Of each such call it is shown that

- it loads nothing but metadata and what it stored itself, so whatever blocks contain, it does the
  same;
- it stores nothing outside the region, nor in another's block;
- blocks stay apart, and all but the one that the call is about are where and as they were;
- a request, aligned or not, and a resize get the block of the chunk that the rule names, or NULL
  with nothing changed, exactly if the rule names none; what is cut off is free;
- a free gives exactly that block back; from level 1 on a second free of it is told, by its kind and
  address, and changes nothing, and so is a free of each other even address, unless the program
  forged the header there;
- where words are checked, a free or a resize of a block is told as damage and changes nothing if a
  word of the header or the links of a chunk beside it is damaged: by each size that does not stand
  again where it leads, and by four links that lead nowhere;
- the footprint is the highest top there was. From level 1 on the header of a freed block says that
  it is free, so that a second free is told once other blocks lie there, too.

    scripts/prove_heap.py small          a minute
    scripts/prove_heap.py full           minutes
    scripts/prove_heap.py --mutants 20   20 small faults of the text

Of 40 drawn on 2026-12-01, the checks of words among them, one is not compiled, 38 are refuted, and
one is proven: without the load of the top in `index_find` a bound is not set, and what stands there
lets each sound chunk pass. Of 60 drawn of the checks alone 53 were refuted and three not compiled.
Earlier ones change nothing: a `>` that becomes `>=` in `lower_top` stores what stands there, and
with a `<` that becomes `<=` in `take_aligned` the next condition decides alike.

Assumed, or left:

- larger regions. Nothing in a call depends on how many chunks lie elsewhere, but their classes'
  numbers were tried up to these sizes only; larger heaps are tested ([attacks](attacks.md));
- that a request's size matters only by the chunk that it asks for: by reading `chunk_for`. Sizes
  around 0, 2^31, 2^32 and the largest are tried in fresh heaps;
- forged headers: at level 1 what looks like a header to the bit is believed;
- other damaged words: of chunks that lie apart, of the lists' heads and the maps, and two at once;
- alignments above 32, and safety levels 2 and 3;
- overlapping calls, gcc, and the host that ran it.

## Bounded: sequences of calls

What the proof does not cover is tried exhaustively on small pools. `tests/core/test_bounded.c`
makes every sequence of five requests and frees on four blocks, of `fixed_pool`, and of `budgeted`
and exact `class_pools` with two pools of two. Requests are of ten classes of sizes; frees are of
every address of the region; live blocks are overwritten. The explorer (`tests/attack/explorer.c`)
visits all states of larger heaps.

CBMC can read `test_bounded.c` with operations, sizes and addresses left open. **It is not run in
CI**, and has not been run yet: Debian 12 has no package of it, and PyPI's of that name is another
program.

## Proven: sizes

`round_sum`, `round_size` (`core/src/size.h`) and `rounded_up` (`core/src/pools/layout.h`) are the
only functions that add to a size. Each of them is proven for every size, every sum and every
alignment. What it stores is the smallest multiple of the alignment that is not below the sum. It
rejects exactly the sums for which that is above `HFIT_LARGEST_BLOCK`.

{sizes} of {claims} claims are proven: three functions with a `size_t` of 64 and of 32 bits. WP's
provers are weak on bit operations. So z3 and cvc4 prove the claims of the code that clang makes
of the text, read as bit-vectors, in a few seconds.

    scripts/prove_sizes.py             core
    scripts/prove_sizes.py --mutants   every small fault of the three: none is proven

Of the 34 faults 31 are refuted. The other three load what nothing stored, or store to a number:
such code is not read, so nothing is proven of it.

## Tested: sizes

`tests/core/test_sizes.c` compares the same functions, and a budget's class, with their
definition. Each build tries sizes around powers of two and every 4093rd; `test_sizes all` tries
all of 32 bits.
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
    elif page != (ROOT / "docs/evidence/proofs.md").read_text():
        sys.exit("docs/evidence/proofs.md: run scripts/proofs_page.py >docs/evidence/proofs.md")


if __name__ == "__main__":
    main()
