/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's services to an image, by semihosting: an instruction that the emulator, not the
 * processor, understands (Arm "Semihosting for AArch32 and AArch64"; RISC-V has taken it over).
 */
#ifndef TARGET_SEMIHOST_H
#define TARGET_SEMIHOST_H

#include <stddef.h>
#include <stdint.h>

/* The command line's bytes, ended by 0; nothing but the 0 if `room` is too small. */
void semihost_command_line(char *line, size_t room);

/* A file of the host, to be read; negative if there is none. */
int semihost_open(const char *name);

/* How many bytes were read: fewer than `bytes` only at the file's end. */
size_t semihost_read(int file, void *to, size_t bytes);

void semihost_print(const char *text);

/* `name`, a space, the value in decimal or as 16 hexadecimal digits, and a newline. */
void semihost_print_count(const char *name, uint32_t value);
void semihost_print_hash(const char *name, uint64_t value);

_Noreturn void semihost_exit(int code);

#endif
