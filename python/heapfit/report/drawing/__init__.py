# SPDX-License-Identifier: Apache-2.0
"""The drawing of all pages: figures, numbers as text, the frame of a page and its rendering."""
