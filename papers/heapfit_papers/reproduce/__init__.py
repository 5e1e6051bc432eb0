# SPDX-License-Identifier: Apache-2.0
"""The four papers reproduced: every row of what they publish beside what heapfit measures.

published.toml   what is published, and what counts as a match
rows.py          which function measures which row, and all of them run
paper_*.py       the functions, a file for each paper or part of one
laboratory.py    what the functions share: measurements made once, a process pool
finding.py       one published figure, ours beside it, and the verdict
"""
