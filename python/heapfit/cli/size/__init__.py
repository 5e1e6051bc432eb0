# SPDX-License-Identifier: Apache-2.0
"""`heapfit size` and the commands of two words that begin with it."""
