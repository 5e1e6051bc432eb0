# SPDX-License-Identifier: Apache-2.0
"""The heaps that each system or library brings, one family a module."""
