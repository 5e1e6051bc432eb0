# SPDX-License-Identifier: Apache-2.0
"""Plans made from several traces at once, and measured on traces that they were not made from."""
