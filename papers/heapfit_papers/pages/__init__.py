# SPDX-License-Identifier: Apache-2.0
"""The pages of `heapfit reproduce` and `heapfit slotbuf`."""
