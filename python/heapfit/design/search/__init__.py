# SPDX-License-Identifier: Apache-2.0
"""Designs found by replaying: a seeded climb over budgets, zones and shared heaps."""
