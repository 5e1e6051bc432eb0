# SPDX-License-Identifier: Apache-2.0
"""What commands write beside their main result: pages, tables and plans, in folders."""
