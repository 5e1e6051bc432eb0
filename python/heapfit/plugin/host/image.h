/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plug-in's image: a file linked by itself to addresses that the host leaves free.
 *
 *   LOWEST | constants | code | variables | HIGHEST
 *
 * The host reads it as data. Only a child maps it, so that nobody but the child ever has its code,
 * and no rule of a loader runs any of it: no interpreter, relocation, resolver or constructor.
 */
#ifndef HOST_IMAGE_H
#define HOST_IMAGE_H

#include "entries.h"

#include <stdbool.h>

/* Reads the table of the image's functions, whose file stays open; NULL: it is no such image. */
const entries *open_image(const char *path);

/* Maps the image into this process; false if there is no memory for it. */
bool map_image(void);

/* Whether one of the image's variables, or of its constants that are written once, is there. */
bool is_variable(const void *address);

#endif
