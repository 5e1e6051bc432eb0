# SPDX-License-Identifier: Apache-2.0
"""The four papers reproduced: every row of what they publish beside what heapfit measures.

published.toml   what is published, of which kind, and what counts as a match
rows.py          which row is whose, and all of them run
row.py           a row: what measures it, and what judges what was measured
paper_*.py       both functions of each row, a file for each paper or part of one
laboratory.py    what the functions share: measurements made once, a process pool
finding.py       one published figure, ours beside it, and the verdict
"""
