# SPDX-License-Identifier: Apache-2.0
"""A cache of replay results between runs, in a folder that can be deleted.

    build of the engine, question, plan, region, content of the trace  --> a few numbers

Nothing here decides anything: an answer is what a replay would give, or is not there.
"""
