# SPDX-License-Identifier: Apache-2.0
"""Candidate plans: special pools (Mamagkakis et al.), budgets (Lee and Yi), none at all."""
