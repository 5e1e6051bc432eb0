# SPDX-License-Identifier: Apache-2.0
"""Plans, the allocators they name, and plan files."""
