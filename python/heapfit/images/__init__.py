# SPDX-License-Identifier: Apache-2.0
"""Heaps read out of a memory image: a core dump, or a raw dump of a device's memory."""
