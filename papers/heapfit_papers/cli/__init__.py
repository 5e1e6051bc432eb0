# SPDX-License-Identifier: Apache-2.0
"""The commands that the papers add to `heapfit`."""
