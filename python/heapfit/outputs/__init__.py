# SPDX-License-Identifier: Apache-2.0
"""Outputs appear whole or not at all, and replace only what heapfit wrote itself."""
