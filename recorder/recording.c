/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each thread writes into a chunk of the file that is its own (lane.h), and takes the number of
 * each record, its place in the order of all, from one counter. The lock is taken only where a
 * thread needs a chunk.
 *
 * A forked child must not write into its parent's file. The kernel wipes the state's page in a
 * child (MADV_WIPEONFORK, Linux 4.14), whatever call made it: the lock is free there, the
 * recording not begun, and the lanes of before are of an earlier generation.
 */
#include "recording.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lane.h"
#include "wire_file.h"

enum {
    CHUNK_SIZE = 16 << 10,    /* bytes, where pages are not larger; some 2,500 records */
    CONFINED_SIZE = 24 << 20, /* 2 million records and more: what a confined program may still be
                                 told of */
    CONFINED_LANES = 64       /* threads that it may still begin */
};

enum phase { NOT_BEGUN = 0, RECORDING, OFF };

struct state {
    pthread_mutex_t lock; /* all zero = PTHREAD_MUTEX_INITIALIZER, in glibc */
    _Atomic enum phase phase;
    _Atomic uint64_t order;     /* of the last record */
    _Atomic(hfit_lane *) spare; /* lanes whose threads have ended */
    uint32_t threads;           /* numbered so far */
    uint64_t start;             /* us of the monotonic clock */
    size_t chunk_size;          /* bytes */
    hfit_wire_header *header;   /* NULL when no file could be made */
    unsigned char *room;        /* mapped before the program confined itself; then chunks are cut */
    unsigned char *room_end;
};

/* Inherited by a child, unlike the state. Changed only with the lock held. */
static struct {
    bool is_confined; /* a system call could kill the program */
    bool is_clockless;
} program;

/* Asleep, from the start on, until the signal comes that HEAPFIT_SIGNAL names. */
static volatile sig_atomic_t is_asleep;
static bool has_slept;

static struct state off_state = {.phase = OFF};

static _Thread_local hfit_lane *own_lane;
static pthread_key_t lane_key;
static bool has_lane_key;

static void *private_pages(size_t size) {
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static struct state *new_state(void) {
    struct state *page = private_pages(sizeof(*page));
    if (page == NULL) {
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

static void push_spare(struct state *state, hfit_lane *lane) {
    lane->below = atomic_load(&state->spare);
    while (!atomic_compare_exchange_weak(&state->spare, &lane->below, lane)) {
    }
}

/* With the lock held, so that no other thread takes one and `below` holds. */
static hfit_lane *pop_spare(struct state *state) {
    hfit_lane *lane = atomic_load(&state->spare);
    while (lane != NULL && !atomic_compare_exchange_weak(&state->spare, &lane, lane->below)) {
    }
    return lane;
}

/* Without a lock: a signal handler may ask for memory meanwhile, and then finds no lane. */
static void leave_lane(void *left) {
    hfit_lane *lane = left;
    own_lane = NULL;
    if (lane->generation == wire_file_generation()) {
        push_spare(shared_state(), lane);
    }
}

static enum phase open_recording(struct state *state) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    state->chunk_size = page > CHUNK_SIZE ? page : CHUNK_SIZE;
    state->header = program.is_confined ? NULL : wire_file_make(state->chunk_size);
    if (state->header == NULL) {
        return OFF;
    }
    state->header->flags |= has_slept ? HFIT_WIRE_ATTACHED : 0;
    state->start = microseconds(CLOCK_MONOTONIC);
    has_lane_key = has_lane_key || pthread_key_create(&lane_key, leave_lane) == 0;
    return RECORDING;
}

static bool is_recording(struct state *state) {
    if (state->phase == NOT_BEGUN) {
        state->phase = open_recording(state);
    }
    return state->phase == RECORDING;
}

static unsigned char *cut_from_room(struct state *state) {
    if ((size_t)(state->room_end - state->room) < state->chunk_size) {
        return NULL;
    }
    state->room += state->chunk_size;
    return state->room - state->chunk_size;
}

/* Gives the lane a new chunk. */
static bool next_chunk(struct state *state, hfit_lane *lane) {
    if (lane->is_mapped_alone && !program.is_confined) {
        munmap(lane->chunk, state->chunk_size);
    }
    unsigned char *chunk = cut_from_room(state);
    lane->is_mapped_alone = chunk == NULL;
    if (chunk == NULL) {
        errno = EPERM;
        chunk = program.is_confined ? NULL : wire_file_map(state->chunk_size);
    }
    if (chunk == NULL) {
        lane->is_mapped_alone = false;
        lane->end = lane->next;
        return false;
    }
    lane_enter_chunk(lane, chunk, state->chunk_size);
    return true;
}

/* A lane for the calling thread, which has none: one that another left, or a new one. */
static hfit_lane *take_lane(struct state *state) {
    hfit_lane *lane = pop_spare(state);
    if (lane == NULL) {
        errno = EPERM;
        lane = program.is_confined ? NULL : private_pages(sizeof(*lane));
    }
    if (lane == NULL) {
        return NULL;
    }
    lane->generation = wire_file_generation();
    if (lane_has_room(lane)) {
        lane_hand_over(lane, ++state->threads);
    } else {
        lane->thread = ++state->threads;
    }
    own_lane = lane;
    if (has_lane_key) {
        pthread_setspecific(lane_key, lane);
    }
    return lane;
}

static bool is_own_lane_of_now(void) {
    return own_lane != NULL && own_lane->generation == wire_file_generation();
}

/* The thread's lane with room for a record; NULL, once and for all, when the file cannot grow. */
static hfit_lane *lane_with_room(struct state *state) {
    pthread_mutex_lock(&state->lock);
    hfit_lane *lane = NULL;
    if (is_recording(state)) {
        lane = is_own_lane_of_now() ? own_lane : take_lane(state);
        if (lane == NULL || (!lane_has_room(lane) && !next_chunk(state, lane))) {
            state->header->stopped = (uint32_t)errno;
            state->phase = OFF;
            lane = NULL;
        }
    }
    pthread_mutex_unlock(&state->lock);
    return lane;
}

static hfit_lane *ready_lane(struct state *state) {
    const bool is_ready = atomic_load_explicit(&state->phase, memory_order_relaxed) == RECORDING &&
                          is_own_lane_of_now() && lane_has_room(own_lane);
    return is_ready ? own_lane : lane_with_room(state);
}

static void wake(int number) {
    (void)number;
    is_asleep = 0;
}

/* A program that has a handler for the signal already, or asks for none, is recorded at once. */
static void sleep_until_signal(void) {
    const char *named = getenv("HEAPFIT_SIGNAL");
    const int number = named == NULL ? 0 : atoi(named);
    struct sigaction now;
    if (number > 0 && sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL) {
        const struct sigaction action = {.sa_handler = wake, .sa_flags = SA_RESTART};
        has_slept = sigaction(number, &action, NULL) == 0;
        is_asleep = has_slept;
    }
}

/* The first call comes before the constructor's where another library's asks for memory. */
static bool is_sleeping(void) {
    static bool has_looked;
    if (!has_looked) {
        has_looked = true;
        sleep_until_signal();
    }
    return is_asleep;
}

void recording_start(void) {
    const int kept_errno = errno;
    struct state *state = shared_state();
    if (!is_sleeping() && state->phase == NOT_BEGUN) {
        pthread_mutex_lock(&state->lock);
        is_recording(state);
        pthread_mutex_unlock(&state->lock);
    }
    errno = kept_errno;
}

static uint64_t append(struct state *state, const hfit_event *event) {
    hfit_lane *lane = ready_lane(state);
    if (lane == NULL) {
        if (state->header != NULL) {
            __atomic_fetch_add(&state->header->unrecorded, 1, __ATOMIC_RELAXED);
        }
        return 0;
    }
    const uint64_t now = program.is_clockless ? 0 : microseconds(CLOCK_MONOTONIC);
    const uint64_t order = atomic_fetch_add(&state->order, 1) + 1;
    lane_write(lane, event, order, now > state->start ? now - state->start : 0);
    return order;
}

uint64_t recording_append(enum hfit_wire_op op, const void *address, uint64_t size,
                          unsigned alignment_log2, struct site site) {
    const int kept_errno = errno;
    struct state *state = shared_state();
    uint64_t order = 0;
    if (!is_sleeping() && (state->phase != OFF || state->header != NULL)) {
        const hfit_event event = {.address = (uintptr_t)address,
                                  .size = size,
                                  .site = site,
                                  .op = (uint8_t)op,
                                  .alignment_log2 = (uint8_t)alignment_log2};
        order = append(state, &event);
    }
    errno = kept_errno;
    return order;
}

void recording_mark_runtime(uint64_t order) {
    struct state *state = shared_state();
    if (state->header != NULL && state->header->runtime == 0) {
        state->header->runtime = order;
    }
}

/* As much as can be had: the recording ends with the room that is left. */
static void take_room(struct state *state) {
    hfit_lane *lanes = private_pages(CONFINED_LANES * sizeof(*lanes));
    for (int i = 0; lanes != NULL && i < CONFINED_LANES; i++) {
        push_spare(state, &lanes[i]);
    }
    size_t size = CONFINED_SIZE;
    while ((state->room = wire_file_map(size)) == NULL && size > state->chunk_size) {
        size /= 2;
    }
    state->room_end = state->room == NULL ? NULL : state->room + size;
}

void recording_prepare(void) {
    const int kept_errno = errno;
    struct state *state = shared_state();
    pthread_mutex_lock(&state->lock);
    if (!program.is_confined && !is_asleep && state->room == NULL && is_recording(state)) {
        take_room(state);
    }
    pthread_mutex_unlock(&state->lock);
    errno = kept_errno;
}

void recording_confine(bool is_strict) {
    struct state *state = shared_state();
    pthread_mutex_lock(&state->lock);
    program.is_confined = true;
    program.is_clockless = program.is_clockless || is_strict;
    if (state->header != NULL) {
        state->header->flags |= HFIT_WIRE_CONFINED;
    }
    pthread_mutex_unlock(&state->lock);
}
