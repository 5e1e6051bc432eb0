# SPDX-License-Identifier: Apache-2.0
"""The sections of pages about a heap, which several pages share."""
