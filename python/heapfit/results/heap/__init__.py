# SPDX-License-Identifier: Apache-2.0
"""The pages about a heap: of fit, check, compare and design."""
