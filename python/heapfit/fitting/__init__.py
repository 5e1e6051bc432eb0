# SPDX-License-Identifier: Apache-2.0
"""The main job: a heap fitted to one or more recordings of a program."""
