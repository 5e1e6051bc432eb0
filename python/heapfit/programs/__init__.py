# SPDX-License-Identifier: Apache-2.0
"""Programs by their own files: what their heap is, and their call sites by function and line."""
