# SPDX-License-Identifier: Apache-2.0
"""Candidate plans from a profile: special pools (seed 001), budgets (seed 003), and none at all."""
