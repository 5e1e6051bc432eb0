# SPDX-License-Identifier: Apache-2.0
"""What a call costs in instructions, accesses and energy, and what a plan's code costs in bytes."""
