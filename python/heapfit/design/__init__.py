# SPDX-License-Identifier: Apache-2.0
"""Candidate plans of a trace: with pools (Mamagkakis et al.), budgets (Lee and Yi) or neither."""
