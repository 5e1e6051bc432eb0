# SPDX-License-Identifier: Apache-2.0
"""Synthetic programs, and changed ones."""
