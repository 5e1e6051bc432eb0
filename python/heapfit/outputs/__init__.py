# SPDX-License-Identifier: Apache-2.0
"""What is written appears whole or not at all, and replaces only what heapfit wrote itself."""
