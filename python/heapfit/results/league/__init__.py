# SPDX-License-Identifier: Apache-2.0
"""The page of a league."""
