# SPDX-License-Identifier: Apache-2.0
"""Results as tables, sentences and JSON: what commands print."""
