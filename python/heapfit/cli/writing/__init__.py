# SPDX-License-Identifier: Apache-2.0
"""What commands write in addition to their result: pages, tables and plans, in folders."""
