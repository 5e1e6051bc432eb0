# SPDX-License-Identifier: Apache-2.0
"""What all pages share: figures, numbers as text, the frame of a page and its rendering."""
