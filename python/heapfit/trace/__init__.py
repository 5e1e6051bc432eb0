# SPDX-License-Identifier: Apache-2.0
"""Stored traces: what is in them, whether it is sound, and what it comes to."""
