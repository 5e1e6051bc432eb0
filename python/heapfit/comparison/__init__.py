# SPDX-License-Identifier: Apache-2.0
"""Plans measured side by side: candidates, trials, the ranked rows and what they come to.

comparison.py          all candidates (candidate.py) of a trace, measured (measuring.py, trial.py)
  pruning.py           those that cannot win any more
  row.py verdict.py    the ranked rows, and the sentence on them
  reopening.py         the winner tried on changed programs (changed_programs.py)
matrix.py              the same for several traces
margin.py longer.py    what to set a heap to, beyond what its recordings need
incumbents/            the one Heap, of ours and of systems, and what recordings need of it
costs/                 instructions, accesses and bytes of code
heap_map.py case.py    what a page shows
"""
