# SPDX-License-Identifier: Apache-2.0
"""heapfit fits a heap to a program: traces, profiles, plans, exact replay, generated C."""
