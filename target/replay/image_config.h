/* SPDX-License-Identifier: Apache-2.0 */
/* Core as the replay image builds it: payload is moved by functions of the image, so that the
 * counting plug-in can tell it from metadata. */
#ifndef TARGET_IMAGE_CONFIG_H
#define TARGET_IMAGE_CONFIG_H

#include <stddef.h>

void image_copy(void *to, const void *from, size_t bytes);
void image_clear(void *to, size_t bytes);

#define HFIT_COPY(to, from, bytes) image_copy((to), (from), (bytes))
#define HFIT_CLEAR(to, bytes) image_clear((to), (bytes))

#endif
