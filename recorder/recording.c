/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shared file mapping, so that the kernel keeps every stored record when the process dies. Its
 * bytes are allocated on disk before they are mapped: a store can never hit a full disk. The
 * header stays mapped; of the records, one window is.
 *
 * A forked child must not write into its parent's file. The kernel wipes the state's page in a
 * child (MADV_WIPEONFORK, Linux 4.14), whatever call made it: the lock is free there, the
 * recording not begun. The file's mappings are not inherited (MADV_DONTFORK).
 */
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    WINDOW_SIZE = 1 << 20,
    CONFINED_SIZE = 64 << 20, /* 2 million records: what a confined program may still be told of */
    HIGH_DESCRIPTOR = 200,    /* above those that programs and shells choose by number */
    MOST_IMAGES = 10000,
    TOLD_CHAINS = 4096 /* remembered: a page or two of the state; forgotten ones are told again */
};

enum phase { NOT_BEGUN = 0, RECORDING, OFF };

struct state {
    pthread_mutex_t lock; /* all zero = PTHREAD_MUTEX_INITIALIZER, in glibc */
    _Atomic enum phase phase;
    uint32_t threads;           /* numbered so far */
    uint64_t start;             /* us of the monotonic clock */
    off_t file_size;            /* allocated */
    hfit_wire_header *header;   /* NULL when no file could be made */
    hfit_wire_record *window;   /* the last bytes of the file, or NULL */
    size_t window_size;         /* bytes */
    size_t used;                /* records of the window */
    uint64_t last_time;         /* us after the start, of the last record */
    uint32_t told[TOLD_CHAINS]; /* names of chains, each at its remainder */
};

/* Inherited by a child, unlike the state. Changed only with the lock held. */
static struct {
    char folder[PATH_MAX]; /* as the environment named it first; "" = not asked to record */
    char path[PATH_MAX];
    int descriptor; /* valid only while it is the file of device and inode */
    dev_t device;
    ino_t inode;
    uint32_t generation; /* processes since the last exec, this one included; 0 = none yet */
    bool is_confined;    /* a system call could kill the program */
    bool is_clockless;
} file = {.descriptor = -1};

static struct state off_state = {.phase = OFF};

static _Thread_local struct {
    uint32_t generation; /* whose numbering `number` is of */
    uint32_t number;
} self;

static struct state *new_state(void) {
    struct state *page =
        mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return &off_state;
    }
    if (madvise(page, sizeof(*page), MADV_WIPEONFORK) != 0) {
        munmap(page, sizeof(*page));
        return &off_state;
    }
    return page;
}

static struct state *shared_state(void) {
    static _Atomic(struct state *) shared;
    struct state *state = atomic_load_explicit(&shared, memory_order_acquire);
    if (state != NULL) {
        return state;
    }
    struct state *made = new_state();
    if (atomic_compare_exchange_strong(&shared, &state, made)) {
        return made;
    }
    if (made != &off_state) {
        munmap(made, sizeof(*made));
    }
    return state;
}

static uint64_t microseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
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

/* Extends the file and maps the new bytes, behind `kept` that it has; NULL when it cannot. */
static void *append_mapping(struct state *state, size_t size, size_t kept) {
    const int descriptor = own_descriptor();
    if (descriptor < 0 || !extend_file(descriptor, state->file_size, (off_t)size)) {
        return NULL;
    }
    const off_t from = state->file_size - (off_t)kept;
    void *mapping = mmap(NULL, kept + size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, from);
    if (mapping == MAP_FAILED) {
        return NULL;
    }
    madvise(mapping, kept + size, MADV_DONTFORK);
    state->file_size += (off_t)size;
    return mapping;
}

static void write_header(hfit_wire_header *header, size_t header_size, uint32_t image) {
    header->version = HFIT_WIRE_VERSION;
    header->header_size = (uint32_t)header_size;
    header->record_size = sizeof(hfit_wire_record);
    header->pointer_bits = sizeof(void *) * CHAR_BIT;
    header->flags = file.generation > 1 ? HFIT_WIRE_ATTACHED : 0;
    header->process = (uint32_t)getpid();
    header->image = image;
    header->start = microseconds(CLOCK_REALTIME);
    strncpy(header->program, program_invocation_short_name, sizeof(header->program) - 1);
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

static enum phase open_recording(struct state *state) {
    if (file.is_confined || !read_folder()) {
        return OFF;
    }
    close_inherited();
    file.generation++;
    uint32_t image;
    if (!create_file(&image)) {
        return OFF;
    }
    const size_t header_size = (size_t)sysconf(_SC_PAGESIZE);
    state->header = append_mapping(state, header_size, 0);
    if (state->header == NULL) {
        unlink(file.path);
        return OFF;
    }
    state->start = microseconds(CLOCK_MONOTONIC);
    write_header(state->header, header_size, image);
    return RECORDING;
}

static bool is_recording(struct state *state) {
    if (state->phase == NOT_BEGUN) {
        state->phase = open_recording(state);
    }
    return state->phase == RECORDING;
}

static bool next_window(struct state *state) {
    if (file.is_confined) {
        errno = EPERM;
        return false;
    }
    if (state->window != NULL) {
        munmap(state->window, state->window_size);
    }
    state->window = append_mapping(state, WINDOW_SIZE, 0);
    state->window_size = WINDOW_SIZE;
    state->used = 0;
    return state->window != NULL;
}

/* More room behind the window's records; without effect when the file cannot grow so much. */
static void widen_window(struct state *state) {
    const size_t kept = state->window == NULL ? 0 : state->window_size;
    hfit_wire_record *window = append_mapping(state, CONFINED_SIZE, kept);
    if (window == NULL) {
        return;
    }
    if (state->window != NULL) {
        munmap(state->window, kept);
    }
    state->window = window;
    state->window_size = kept + CONFINED_SIZE;
}

/* The next record to write, or NULL, once and for all, when the file cannot grow. */
static hfit_wire_record *next_record(struct state *state) {
    const bool has_room =
        state->window != NULL && state->used < state->window_size / sizeof(hfit_wire_record);
    if (!has_room && !next_window(state)) {
        state->header->stopped = (uint32_t)errno;
        state->phase = OFF;
        return NULL;
    }
    return &state->window[state->used++];
}

static uint32_t thread_number(struct state *state) {
    if (self.generation != file.generation) {
        self.generation = file.generation;
        self.number = ++state->threads;
    }
    return self.number;
}

void recording_start(void) {
    const int kept_errno = errno;
    struct state *state = shared_state();
    if (state->phase == NOT_BEGUN) {
        pthread_mutex_lock(&state->lock);
        is_recording(state);
        pthread_mutex_unlock(&state->lock);
    }
    errno = kept_errno;
}

static void append(struct state *state, const hfit_wire_record *told) {
    hfit_wire_record *record = is_recording(state) ? next_record(state) : NULL;
    if (record == NULL) {
        if (state->header != NULL) {
            state->header->unrecorded++;
        }
        return;
    }
    if (!file.is_clockless) {
        state->last_time = microseconds(CLOCK_MONOTONIC) - state->start;
    }
    const uint64_t time = state->last_time;
    record->address = told->address;
    record->size = told->size;
    record->site = told->site;
    record->thread = thread_number(state);
    record->time_low = (uint32_t)time;
    const uint32_t commit = told->commit | (uint32_t)(time >> 32) << 16;
    __atomic_store_n(&record->commit, commit, __ATOMIC_RELEASE);
}

/* A name says nothing of the callers it stands for. The state, and with it what was told, is a
 * process's own: so is its file. */
static void tell_chain(struct state *state, const struct site *site) {
    uint32_t *told = &state->told[site->name % TOLD_CHAINS];
    if (site->callers[0] == 0 || *told == site->name) {
        return;
    }
    const uint32_t *callers = site->callers;
    const hfit_wire_record chain = {.address = (uint64_t)callers[1] << 32 | callers[0],
                                    .size = (uint64_t)callers[3] << 32 | callers[2],
                                    .site = site->name,
                                    .commit = HFIT_WIRE_CHAIN};
    append(state, &chain);
    *told = site->name;
}

void recording_append(enum hfit_wire_op op, const void *address, uint64_t size,
                      unsigned alignment_log2, struct site site) {
    const int kept_errno = errno;
    struct state *state = shared_state();
    if (state->phase != OFF || state->header != NULL) {
        const hfit_wire_record told = {.address = (uintptr_t)address,
                                       .size = size,
                                       .site = site.name,
                                       .commit = (uint32_t)op | alignment_log2 << 8};
        pthread_mutex_lock(&state->lock);
        tell_chain(state, &site);
        append(state, &told);
        pthread_mutex_unlock(&state->lock);
    }
    errno = kept_errno;
}

void recording_prepare(void) {
    const int kept_errno = errno;
    struct state *state = shared_state();
    pthread_mutex_lock(&state->lock);
    if (!file.is_confined && is_recording(state)) {
        widen_window(state);
    }
    pthread_mutex_unlock(&state->lock);
    errno = kept_errno;
}

void recording_confine(bool is_strict) {
    struct state *state = shared_state();
    pthread_mutex_lock(&state->lock);
    file.is_confined = true;
    file.is_clockless = file.is_clockless || is_strict;
    if (state->header != NULL) {
        state->header->flags |= HFIT_WIRE_CONFINED;
    }
    pthread_mutex_unlock(&state->lock);
}
