/* SPDX-License-Identifier: Apache-2.0 */
/* What the firmware of a page has beside the page's lines: what a reader is said to have. */
#ifndef PAGES_APP_H
#define PAGES_APP_H

#include <stdint.h>

int put_byte(int byte);  /* to the board's first UART */
uint32_t my_ticks(void); /* a clock */
void app_start(void);    /* makes the tasks that ask; the scheduler starts after it */
void app_step(int step); /* a step of the main loop, of APP_STEPS */
void app_end(void); /* writes the board's RAM, which a probe would read, and ends the program */
void before_the_end(void); /* the page's lines for the end */

enum { APP_STEPS = 300, APP_HELD = 8, APP_SMALLEST = 1001 }; /* step i asks for APP_SMALLEST + i */

#endif
