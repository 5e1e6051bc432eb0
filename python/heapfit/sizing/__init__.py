# SPDX-License-Identifier: Apache-2.0
"""Sizes memory so that at most one request in N runs out of it: docs/sizing.md."""
