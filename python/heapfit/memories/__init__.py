# SPDX-License-Identifier: Apache-2.0
"""Which requests go into which of several memories, by exact replay of all their heaps."""
