# SPDX-License-Identifier: Apache-2.0
"""The laboratory of the four papers, on top of heapfit: what they publish beside ours."""
