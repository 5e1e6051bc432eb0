/* SPDX-License-Identifier: Apache-2.0 */
/* See image.h. */
#include "image.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_SEGMENTS = 16, TLS_BYTES = 4096, TLS_ALIGNMENT = 64 };

static const uintptr_t lowest = 0x60000000, highest = 0x78000000; /* see building.py */

/* The host has no other variables of a thread: what an image's code takes for its own, which end
 * where the thread's pointer points, are these. */
static _Thread_local unsigned char variables_of_thread[TLS_BYTES]
    __attribute__((aligned(TLS_ALIGNMENT)));

static struct {
    int file;
    size_t count;
    ElfW(Phdr) segments[MOST_SEGMENTS];
    entries functions;
} image;

static bool is_between(uintptr_t start, uintptr_t size, uintptr_t from, uintptr_t to) {
    return start >= from && start <= to && size <= to - start;
}

static bool has_read(void *to, size_t size, uintptr_t offset) {
    return pread(image.file, to, size, (off_t)offset) == (ssize_t)size;
}

/* Where the variables of a thread begin before their end. */
static size_t bytes_of_thread(const ElfW(Phdr) * one) {
    const size_t align = one->p_align > 0 ? one->p_align : 1;
    return (one->p_memsz + align - 1) / align * align;
}

static bool is_sound(const ElfW(Phdr) * one) {
    if (one->p_filesz > one->p_memsz || one->p_align > highest) {
        return false;
    }
    if (one->p_type == PT_TLS) {
        return one->p_memsz <= TLS_BYTES && one->p_align <= TLS_ALIGNMENT &&
               bytes_of_thread(one) <= TLS_BYTES;
    }
    return one->p_type != PT_LOAD || is_between(one->p_vaddr, one->p_memsz, lowest, highest);
}

/* Reads what would lie at an address of the image. */
static bool has_read_at(void *to, size_t size, uintptr_t address) {
    for (size_t i = 0; i < image.count; i++) {
        const ElfW(Phdr) *one = &image.segments[i];
        if (one->p_type == PT_LOAD &&
            is_between(address, size, one->p_vaddr, one->p_vaddr + one->p_filesz)) {
            return has_read(to, size, one->p_offset + (address - one->p_vaddr));
        }
    }
    return false;
}

const entries *open_image(const char *path) {
    ElfW(Ehdr) head;
    image.file = open(path, O_RDONLY | O_CLOEXEC);
    if (!has_read(&head, sizeof head, 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_phnum > MOST_SEGMENTS ||
        !has_read(image.segments, head.e_phnum * sizeof *image.segments, head.e_phoff)) {
        return NULL;
    }
    image.count = head.e_phnum;
    for (size_t i = 0; i < image.count; i++) {
        if (!is_sound(&image.segments[i])) {
            return NULL;
        }
    }
    const bool has_table = has_read_at(&image.functions, sizeof image.functions, head.e_entry);
    return has_table ? &image.functions : NULL;
}

static bool map_segment(const ElfW(Phdr) * one) {
    const uintptr_t start = one->p_vaddr / PAGE * PAGE;
    const size_t size = (one->p_vaddr + one->p_memsz - start + PAGE - 1) / PAGE * PAGE;
    const int protection = ((one->p_flags & PF_R) != 0 ? PROT_READ : 0) |
                           ((one->p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                           ((one->p_flags & PF_X) != 0 ? PROT_EXEC : 0);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *at = mmap((void *)start, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    return (uintptr_t)at == start && has_read((void *)one->p_vaddr, one->p_filesz, one->p_offset) &&
           mprotect(at, size, protection) == 0;
}

bool map_image(void) {
    for (size_t i = 0; i < image.count; i++) {
        const ElfW(Phdr) *one = &image.segments[i];
        unsigned char *end = variables_of_thread + TLS_BYTES;
        if (one->p_type == PT_LOAD && one->p_memsz > 0 && !map_segment(one)) {
            return false;
        }
        if (one->p_type == PT_TLS &&
            !has_read(end - bytes_of_thread(one), one->p_filesz, one->p_offset)) {
            return false;
        }
    }
    return true;
}

bool is_variable(const void *address) {
    for (size_t i = 0; i < image.count; i++) {
        const ElfW(Phdr) *one = &image.segments[i];
        if (one->p_type == PT_LOAD && (one->p_flags & PF_W) != 0 &&
            (uintptr_t)address - one->p_vaddr < one->p_memsz) {
            return true;
        }
    }
    return false;
}
