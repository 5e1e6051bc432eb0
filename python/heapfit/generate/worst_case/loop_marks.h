/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop marks of hfit/config.h in a build whose worst case is looked for: included before
 * everything else, with -g.
 *
 * Each is an unused constant. Of it stays, in the debug information alone, its value and which
 * instructions came from its scope, the loop's body. loop_marks.py reads both.
 */
#define HFIT_LOOP_MARK(kind, value)                                                                \
    const unsigned kind = (value);                                                                 \
    (void)kind
#define HFIT_LOOP_AT_MOST(times) HFIT_LOOP_MARK(hfit_loop_at_most, times)
#define HFIT_LOOP_HALVES(count) HFIT_LOOP_MARK(hfit_loop_halves, count)
#define HFIT_LOOP_OF_PAYLOAD() HFIT_LOOP_MARK(hfit_loop_of_payload, 0)
