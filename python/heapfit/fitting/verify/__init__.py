# SPDX-License-Identifier: Apache-2.0
"""The closed loop: firmware runs on a fitted heap, which is fitted again until runs pass."""
