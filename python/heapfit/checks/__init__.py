# SPDX-License-Identifier: Apache-2.0
"""Checks of recordings against a plan: if they run in the region that it sets, and what grew."""
