/* SPDX-License-Identifier: Apache-2.0 */
/* See wire_file.h. The process's children inherit what is kept here, and begin a file of theirs. */
#include "wire_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    GROWTH = 1 << 20,      /* bytes that are allocated on disk at a time, at least */
    HIGH_DESCRIPTOR = 200, /* above those that programs and shells choose by number */
    MOST_IMAGES = 10000
};

static struct {
    char folder[PATH_MAX]; /* as the environment named it first; "" = not asked to record */
    char path[PATH_MAX];
    int descriptor; /* valid only while it is the file of device and inode */
    dev_t device;
    ino_t inode;
    uint32_t generation;
    off_t size; /* allocated */
    off_t used; /* handed out */
} file = {.descriptor = -1};

uint32_t wire_file_generation(void) {
    return file.generation;
}

uint64_t microseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec < 0 ? 0 : (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* When the process started, in clock ticks since boot: field 22 of /proc/self/stat, or 0. */
static unsigned long long process_start(void) {
    char text[1024];
    const int descriptor = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return 0;
    }
    const ssize_t length = read(descriptor, text, sizeof(text) - 1);
    close(descriptor);
    text[length < 0 ? 0 : length] = '\0';
    const char *field = strrchr(text, ')'); /* ends field 2, which may hold blanks */
    for (int i = 2; i < 22 && field != NULL; i++) {
        field = strchr(field + 1, ' ');
    }
    return field == NULL ? 0 : strtoull(field, NULL, 10);
}

static bool is_own_file(int descriptor) {
    struct stat status;
    return descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_dev == file.device &&
           status.st_ino == file.inode;
}

/* Programs expect the lowest numbers of what they open. */
static int moved_high(int descriptor) {
    const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
    if (high < 0) {
        return descriptor;
    }
    close(descriptor);
    return high;
}

/* The file's descriptor. Programs close descriptors they do not know, and reuse the numbers. */
static int own_descriptor(void) {
    if (is_own_file(file.descriptor)) {
        return file.descriptor;
    }
    const int opened = open(file.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (opened >= 0 && !is_own_file(opened)) {
        close(opened);
        errno = EBADF;
        return -1;
    }
    file.descriptor = opened < 0 ? -1 : moved_high(opened);
    return file.descriptor;
}

/* Makes <folder>/<process>-<its start>-<image>.wire, which must not exist. */
static bool create_file(uint32_t *image) {
    const unsigned long long start = process_start();
    for (*image = 0; *image < MOST_IMAGES; ++*image) {
        const int length = snprintf(file.path, sizeof(file.path), "%s/%d-%llu-%u.wire", file.folder,
                                    (int)getpid(), start, (unsigned)*image);
        if (length < 0 || (size_t)length >= sizeof(file.path)) {
            return false;
        }
        const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
        const int opened = open(file.path, flags, S_IRUSR | S_IWUSR);
        struct stat status;
        if (opened >= 0 && fstat(opened, &status) == 0) {
            file.descriptor = moved_high(opened);
            file.device = status.st_dev;
            file.inode = status.st_ino;
            return true;
        }
        if (errno != EEXIST) {
            return false;
        }
    }
    return false;
}

/* Allocates the file's next bytes on disk. Above the program's own limit a try would kill it. */
static bool extend_file(int descriptor, off_t from, off_t size) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (rlim_t)(from + size) > limit.rlim_cur) {
        errno = EFBIG;
        return false;
    }
    int error;
    do {
        error = posix_fallocate(descriptor, from, size);
    } while (error == EINTR);
    errno = error;
    return error == 0;
}

/* Allocates until `size` more bytes can be handed out: more where the disk has it, so that threads
 * seldom wait for it. */
static bool grow(int descriptor, size_t size) {
    const off_t missing = file.used + (off_t)size - file.size;
    if (missing <= 0) {
        return true;
    }
    off_t growth = file.size > 0 && missing < GROWTH ? GROWTH : missing;
    if (!extend_file(descriptor, file.size, growth)) {
        growth = missing;
        if (!extend_file(descriptor, file.size, growth)) {
            return false;
        }
    }
    file.size += growth;
    return true;
}

void *wire_file_map(size_t size) {
    const int descriptor = own_descriptor();
    if (descriptor < 0 || !grow(descriptor, size)) {
        return NULL;
    }
    const int flags = MAP_SHARED | MAP_POPULATE;
    void *mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, descriptor, file.used);
    if (mapping == MAP_FAILED) {
        return NULL;
    }
    madvise(mapping, size, MADV_DONTFORK);
    file.used += (off_t)size;
    return mapping;
}

/* The executable's name: programs overwrite their arguments. */
static void write_name(char *name) {
    char path[PATH_MAX] = "";
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[length < 0 ? 0 : length] = '\0';
    const char *last = strrchr(path, '/');
    strncpy(name, last == NULL ? program_invocation_short_name : last + 1,
            HFIT_WIRE_PROGRAM_SIZE - 1);
}

static void write_header(hfit_wire_header *header, size_t header_size, size_t chunk_size,
                         uint32_t image) {
    header->version = HFIT_WIRE_VERSION;
    header->header_size = (uint32_t)header_size;
    header->unit_size = (uint32_t)chunk_size;
    header->pointer_bits = sizeof(void *) * CHAR_BIT;
    header->flags = file.generation > 1 ? HFIT_WIRE_ATTACHED : 0;
    header->process = (uint32_t)getpid();
    header->image = image;
    header->start = microseconds(CLOCK_REALTIME);
    write_name(header->program);
    atomic_thread_fence(memory_order_release);
    memcpy(header->magic, HFIT_WIRE_MAGIC, sizeof(header->magic));
}

static bool read_folder(void) {
    const char *folder = getenv("HEAPFIT_RECORD");
    if (file.folder[0] == '\0' && folder != NULL && strlen(folder) < sizeof(file.folder)) {
        strcpy(file.folder, folder);
    }
    return file.folder[0] != '\0';
}

static void close_inherited(void) {
    if (is_own_file(file.descriptor)) {
        close(file.descriptor);
    }
    file.descriptor = -1;
}

hfit_wire_header *wire_file_make(size_t chunk_size) {
    if (!read_folder()) {
        return NULL;
    }
    close_inherited();
    file.generation++;
    file.size = file.used = 0;
    uint32_t image;
    if (!create_file(&image)) {
        return NULL;
    }
    const size_t header_size = (size_t)sysconf(_SC_PAGESIZE);
    hfit_wire_header *header = wire_file_map(header_size);
    if (header == NULL) {
        unlink(file.path);
        return NULL;
    }
    write_header(header, header_size, chunk_size, image);
    return header;
}
