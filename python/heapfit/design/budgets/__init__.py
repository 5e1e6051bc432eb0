# SPDX-License-Identifier: Apache-2.0
"""Budgets: blocks reserved for each size (Lee and Yi 2008): greedy, exact and priced."""
