# SPDX-License-Identifier: Apache-2.0
"""Designs of pools alone: by the shape of the sizes, for the worst case, by dynamic programming."""
