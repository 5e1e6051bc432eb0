# SPDX-License-Identifier: Apache-2.0
"""The page of pools and regions for an admission."""
