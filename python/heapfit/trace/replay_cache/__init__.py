# SPDX-License-Identifier: Apache-2.0
"""What replays came to, kept from one run to the next in a folder that can be thrown away.

    build of the engine, question, plan, region, content of the trace  --> a few numbers

Nothing here decides anything: an answer is what a replay would give, or is not there.
"""
