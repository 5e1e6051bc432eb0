# SPDX-License-Identifier: Apache-2.0
"""Traces drawn from a recorded one: a block bootstrap (docs/drawn-traces.md)."""
