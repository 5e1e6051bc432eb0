# SPDX-License-Identifier: Apache-2.0
"""How much memory it takes that at most one request in N is refused: docs/sizing.md."""
