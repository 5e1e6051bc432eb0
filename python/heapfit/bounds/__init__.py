# SPDX-License-Identifier: Apache-2.0
"""What any heap needs for a trace, and what some allocators never exceed."""
