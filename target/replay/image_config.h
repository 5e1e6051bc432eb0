/* SPDX-License-Identifier: Apache-2.0 */
/* Core as the replay image builds it: payload is moved by functions of the image, so that the
 * counting plug-in can tell it from metadata. With IMAGE_UNMERGED the compiler may not make one
 * access of two, as it may in firmware: then there are as many as the host counts. */
#ifndef TARGET_IMAGE_CONFIG_H
#define TARGET_IMAGE_CONFIG_H

#include <stddef.h>

void image_copy(void *to, const void *from, size_t bytes);
void image_clear(void *to, size_t bytes);

#define HFIT_COPY(to, from, bytes) image_copy((to), (from), (bytes))
#define HFIT_CLEAR(to, bytes) image_clear((to), (bytes))

#ifdef IMAGE_UNMERGED
#define HFIT_ON_LOAD(heap, offset) __asm__ volatile("" ::"r"(heap), "r"(offset) : "memory")
#define HFIT_ON_STORE(heap, offset) __asm__ volatile("" ::"r"(heap), "r"(offset) : "memory")
#endif

#endif
