# SPDX-License-Identifier: Apache-2.0
"""The main job: a heap fitted to one or more recordings of a program.

fit.py                 the stages in their order, and what is written (folder.py)
  workload.py          recordings, each imported where it must be and read once
  selection.py         the plan, or the heap there is; of many recordings some are searched
    choosing.py        candidates ranked and tried on changed programs, to a choice (choice.py)
    excerpt_search.py  the same for recordings too long to be searched whole
    incumbent.py       the choice beside the heap that the program or many have
  longer_runs.py       kinds of recordings, and what longer runs need
  result.py            all that is told (assessment, reference_heaps, this_build, by_site)
fitted_heap.py         the same for `import heapfit`
verify/                the loop with firmware that runs
"""
