# SPDX-License-Identifier: Apache-2.0
"""What is told: each result described once, as parts, in the words of people who use it."""
