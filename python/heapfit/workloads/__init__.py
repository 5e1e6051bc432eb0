# SPDX-License-Identifier: Apache-2.0
"""Synthetic programs, and traces resampled from a recorded one (docs/drawn-traces.md)."""
