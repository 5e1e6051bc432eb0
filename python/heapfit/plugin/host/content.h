/* SPDX-License-Identifier: Apache-2.0 */
/* What a checked replay writes into blocks: bytes that tell one object from another. */
#ifndef HOST_CONTENT_H
#define HOST_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void make_contents(void);
void write_content(unsigned char *bytes, size_t size, uint32_t object);
bool has_content(const unsigned char *bytes, size_t size, uint32_t object);

#endif
