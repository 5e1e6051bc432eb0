# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit` on every real recording there is: an outcome is named for each file.

The recordings lie in the folder that HEAPFIT_CORPUS names (folders heap, net, pcap, synthetic,
dist); where it is not set, the repository's own examples/ stand in for them.
"""
