# SPDX-License-Identifier: Apache-2.0
"""Rows still to be measured."""

from heapfit.reproduce.rows import Row

ROWS = {f"002-{number}": Row(None, "Not measured yet.") for number in range(1, 14)}
