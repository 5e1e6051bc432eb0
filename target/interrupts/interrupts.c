/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interrupt at every instruction of an operation of a generated heap, whose handler makes an
 * operation of its own on the same heap.
 *
 *   enable SysTick   operation begins                          ends
 *   |                |                                         |
 *   +--- n ticks ----+-----------------> an instruction        |   n is 1, 2, ... until
 *                                        | PendSV: another     |   the interrupt comes
 *                                        | operation           |   behind the end
 *
 * The emulator counts time in instructions, 64 ns each, and a tick is 40 ns: each instruction is
 * met, and some of them twice. SysTick pends PendSV, which is taken in its place, and so is left
 * free to end what never ends.
 *
 * Each scenario is a heap after random operations, and two more: one that is interrupted, one that
 * interrupts. It is made anew for each tick. Then every live block must hold what was written into
 * it, the heap must hold just these blocks, and its check must be true.
 *
 * Command line: interrupts FIRST_SCENARIO FIRST_TICK INTERRUPTS. Prints how many interrupts came
 * inside an operation, and after how many of them the heap was corrupt. If a heap hangs or faults
 * that is one of these, and the scenario and the tick to go on with are printed.
 */
#include "replay_heap.c"

#include "board/semihost.h"
#include "board/start.h"
#include "hfit/descriptor.h"

#include "core/random_number.h"

enum {
    OBJECTS = 24, /* and one for each of the two operations */
    STEPS = 60,
    SIZE_STEP = 8,
    SIZES = 12,
    ENDLESS = 1000000, /* ticks */
    OFF = 0,
    ON = 7, /* the processor's clock, an interrupt at 0, counting */
};

#define SYSTICK ((volatile uint32_t *)0xe000e010) /* control, reload, value */
#define INTERRUPT_CONTROL (*(volatile uint32_t *)0xe000ed04)
#define PENDSV_PRIORITY (*(volatile uint8_t *)0xe000ed22)
#define PEND_PENDSV (1u << 28)
#define CLEAR_TICK (1u << 25)

extern const hfit_allocator HEAP_OPERATION(allocator);

typedef struct object {
    unsigned char *block; /* NULL: none */
    uint32_t size;        /* bytes that are written: those of its first piece */
} object;

typedef enum operation_kind { ALLOC, ALLOC_ALIGNED, RESIZE, FREE, KINDS } operation_kind;

typedef struct operation {
    operation_kind kind;
    uint32_t object;
    uint32_t size;
} operation;

static object objects[OBJECTS + 2];
static operation interrupted;
static operation interrupting;

static volatile bool is_inside; /* an operation that may be interrupted */
static volatile bool was_inside;
static volatile bool is_over; /* the handler's operation has been made */

static uint32_t scenario;
static uint32_t ticks;
static uint32_t came_inside;
static uint32_t corrupt;

/* ---- The heap, and what must be in it ---- */

static unsigned char mark_of(uint32_t number) {
    return (unsigned char)(0x11 * (number % 15 + 1) + number / 15);
}

static uint32_t piece_size(const unsigned char *block, uint32_t size) {
    const hfit_allocator *allocator = &HEAP_OPERATION(allocator);
    size_t bytes = size;
    if (allocator->next_piece != NULL) {
        (void)allocator->next_piece(HEAP_OWN.heap, replay_heap_plan(), block, NULL, &bytes);
    }
    return bytes < size ? (uint32_t)bytes : size;
}

static void fill(uint32_t number) {
    object *o = &objects[number];
    o->size = piece_size(o->block, o->size);
    for (uint32_t i = 0; i < o->size; i++) {
        o->block[i] = mark_of(number);
    }
}

static bool keeps(uint32_t number, uint32_t size) {
    const object *o = &objects[number];
    for (uint32_t i = 0; i < size && i < o->size; i++) {
        if (o->block[i] != mark_of(number)) {
            return false;
        }
    }
    return true;
}

static void perform(const operation *o) {
    object *object = &objects[o->object];
    unsigned char *block;
    switch (o->kind) {
    case ALLOC:
        object->block = replay_malloc(o->size);
        break;
    case ALLOC_ALIGNED:
        object->block = replay_aligned_alloc(32, o->size);
        break;
    case RESIZE:
        block = replay_realloc(object->block, o->size);
        object->block = block == NULL ? object->block : block;
        break;
    default:
        replay_free(object->block);
        object->block = NULL;
    }
}

static void count_used(void *context, const void *block, size_t size, bool is_used) {
    (void)block, (void)size;
    *(uint32_t *)context += is_used;
}

static bool is_as_it_must_be(void) {
    uint32_t live = 0;
    uint32_t used = 0;
    for (uint32_t i = 0; i < OBJECTS + 2; i++) {
        live += objects[i].block != NULL;
        if (objects[i].block != NULL && !keeps(i, objects[i].size)) {
            return false;
        }
    }
    HEAP_OPERATION(walk)(HEAP_OWN.heap, replay_heap_plan(), count_used, &used);
    return used == live && replay_heap_check();
}

/* ---- A scenario ---- */

static uint32_t random_size(void) {
    return SIZE_STEP * (1 + random_below(SIZES));
}

/* An object that has a block, or that has none. OBJECTS if no try finds one. */
static uint32_t random_object(bool has_block) {
    for (uint32_t tries = 0; tries < 4 * OBJECTS; tries++) {
        const uint32_t i = random_below(OBJECTS);
        if ((objects[i].block != NULL) == has_block) {
            return i;
        }
    }
    return OBJECTS;
}

/* An operation on an object of its own. */
static operation random_operation(uint32_t own) {
    operation o = {(operation_kind)random_below(KINDS), own, random_size()};
    if (o.kind == RESIZE || o.kind == FREE) {
        o.object = random_object(true);
    }
    if (o.object == OBJECTS || o.object == interrupted.object) {
        o = (operation){ALLOC, own, o.size};
    }
    return o;
}

/* A heap after random operations, and two operations on different objects. */
static void begin_scenario(void) {
    random_state = scenario;
    (void)replay_heap_init();
    for (uint32_t i = 0; i < OBJECTS + 2; i++) {
        objects[i].block = NULL;
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t i = random_below(OBJECTS);
        const uint32_t size = random_size();
        const operation o = {objects[i].block == NULL ? ALLOC : FREE, i, size};
        perform(&o);
        objects[i].size = size;
        if (objects[i].block != NULL) {
            fill(i);
        }
    }
    interrupted.object = OBJECTS + 2; /* none */
    interrupted = random_operation(OBJECTS);
    interrupting = random_operation(OBJECTS + 1);
}

/* Writes what is new; what was resized must keep what it held. */
static bool write_new(const operation *o) {
    object *object = &objects[o->object];
    if (object->block == NULL) {
        return true;
    }
    if (o->kind == RESIZE && !keeps(o->object, o->size)) {
        return false;
    }
    if (o->kind != RESIZE || object->size > o->size) {
        object->size = o->size;
    }
    fill(o->object);
    return true;
}

static void start_clock(uint32_t until) {
    SYSTICK[0] = OFF;
    SYSTICK[1] = until;
    SYSTICK[2] = 0;
    SYSTICK[0] = ON;
}

/* True if the heap is as it must be after both operations. */
static bool run_once(void) {
    is_over = false;
    start_clock(ticks);
    is_inside = true;
    perform(&interrupted);
    is_inside = false;
    while (!is_over) {
    }
    const bool is_sound = write_new(&interrupted) && write_new(&interrupting) && is_as_it_must_be();
    SYSTICK[0] = OFF;
    return is_sound;
}

static _Noreturn void tell(void) {
    semihost_print_count("inside", came_inside);
    semihost_print_count("corrupt", corrupt);
    semihost_print_count("scenario", scenario);
    semihost_print_count("tick", ticks + 1);
    semihost_exit(0);
}

/* A heap that faults or hangs. */
void on_fault(void) {
    came_inside++;
    corrupt++;
    tell();
}

void on_pended(void) {
    perform(&interrupting);
    is_over = true;
}

void on_tick(void) {
    if (SYSTICK[1] == ENDLESS) {
        on_fault();
    }
    was_inside = is_inside;
    start_clock(ENDLESS);
    INTERRUPT_CONTROL = PEND_PENDSV | CLEAR_TICK; /* a short tick may be pending again */
}

static uint32_t number_in(const char *word) {
    uint32_t number = 0;
    for (; *word >= '0' && *word <= '9'; word++) {
        number = 10 * number + (uint32_t)(*word - '0');
    }
    return number;
}

int main(int count, char **words) {
    if (count != 4) {
        return 2;
    }
    scenario = number_in(words[1]);
    ticks = number_in(words[2]);
    const uint32_t wanted = number_in(words[3]);
    PENDSV_PRIORITY = 0xff;
    for (; came_inside < wanted; scenario++, ticks = 1) {
        bool is_sound;
        for (was_inside = true; was_inside && came_inside < wanted; ticks++) {
            begin_scenario();
            is_sound = run_once();
            came_inside += was_inside;
            corrupt += was_inside && !is_sound;
        }
    }
    tell();
}
