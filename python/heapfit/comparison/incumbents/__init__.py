# SPDX-License-Identifier: Apache-2.0
"""Heaps that systems bring: what the recordings need of one, and whether to keep it."""
