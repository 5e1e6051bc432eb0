# SPDX-License-Identifier: Apache-2.0
"""Offered traffic on any allocator: scenarios, simulation, closed forms, confidence intervals."""
