# SPDX-License-Identifier: Apache-2.0
"""What each command takes and says of itself: a class each, made without the libraries it runs."""
