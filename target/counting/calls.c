/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QEMU plug-in that counts what each call of the watched functions does, from its first
 * instruction to the return.
 *
 *   ... bl hfit_tlsf_alloc      the instruction before the first one: a call, so the function
 *       <return address>        returns behind it
 *   hfit_tlsf_alloc:            counted from here ...
 *       ...
 *       bx lr                   ... to here, callees included
 *
 * No instruction is decoded, so this works for every processor. A watched function must be called,
 * not jumped to. Calls inside a watched call belong to it.
 *
 * Where interrupts or tasks get in between, `code=` tells which code is the heap's: then only its
 * instructions and accesses count, and a call ends only where that code returns. A watched function
 * that is entered from other code begins a call of its own, and a call that was left is gone on
 * with where its code goes on. Registers cannot be read: tasks that were stopped at the same
 * instruction may be taken for each other, which changes no sum; and a call whose entry was
 * interrupted has no known end: it is written once MOST_OPEN later ones are open.
 *
 * Arguments, all addresses and sizes in hexadecimal:
 *   out=FILE              the records; see `record` below
 *   watch=ADDRESS         a function's first instruction; records tell it by its ordinal, from 0
 *   region=START:END      the heap
 *   stack=START:END       where the stack grows downwards
 *   code=START:END        the heap's code, a function or more at a time; none: all code is
 *   payload=START:END     code whose accesses to the heap are of payload, not of metadata
 */
#include "qemu_plugin_v1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WATCHED = 16, MOST_PAYLOAD = 4, MOST_CODE = 64, MOST_OPEN = 8 };

typedef struct range {
    uint64_t start;
    uint64_t end;
} range;

/* One call, as it is written: eight little-endian words. */
typedef struct record {
    uint32_t function;
    uint32_t instructions;
    uint32_t loads; /* accesses of any memory, of any size */
    uint32_t stores;
    uint32_t heap_loads; /* accesses of the region, without payload */
    uint32_t heap_stores;
    uint32_t payload;      /* bytes stored into the region by payload code */
    uint32_t lowest_stack; /* address; UINT32_MAX if the stack was not touched */
} record;

typedef struct open_call {
    record counts;
    uint64_t return_address;
    uint64_t left_at; /* behind its last instruction so far */
} open_call;

/* A few ranges of addresses. */
typedef struct ranges {
    range *of;
    uint32_t count, most;
} ranges;

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;

static FILE *output;
static uint64_t watched[MOST_WATCHED];
static uint32_t watched_count;
static ranges payload = {.of = (range[MOST_PAYLOAD]){{0}}, .most = MOST_PAYLOAD};
static ranges code = {.of = (range[MOST_CODE]){{0}}, .most = MOST_CODE};
static range region;
static range stack;

static uint64_t next_address;           /* behind the instruction executed last */
static bool was_inside;                 /* that one is the heap's */
static open_call open_calls[MOST_OPEN]; /* first begun first */
static uint32_t open_count;
static open_call *current; /* the one that runs, if any does */

static bool is_in(range range, uint64_t address) {
    return address >= range.start && address < range.end;
}

static bool is_in_any(const ranges *ranges, uint64_t address) {
    for (uint32_t i = 0; i < ranges->count; i++) {
        if (is_in(ranges->of[i], address)) {
            return true;
        }
    }
    return false;
}

/* An instruction in one word: address, size and what it is; programs lie in the lowest 4 GiB. */
enum { SIZE_SHIFT = 32, PAYLOAD_SHIFT = 40, INSIDE_SHIFT = 41 };

static void *pack(uint64_t address, size_t size) {
    const uint64_t is_payload = is_in_any(&payload, address);
    const uint64_t is_inside = code.count == 0 || is_in_any(&code, address);
    return (void *)(uintptr_t)(address | (uint64_t)size << SIZE_SHIFT |
                               is_payload << PAYLOAD_SHIFT | is_inside << INSIDE_SHIFT);
}

static uint64_t address_in(const void *data) {
    return (uintptr_t)data & UINT32_MAX;
}

static uint64_t size_in(const void *data) {
    return (uintptr_t)data >> SIZE_SHIFT & 0xff;
}

static bool is_set(const void *data, unsigned shift) {
    return (uintptr_t)data >> shift & 1;
}

static open_call *last_begun(void) {
    return open_count == 0 ? NULL : &open_calls[open_count - 1];
}

static void end_call(open_call *ended) {
    fwrite(&ended->counts, sizeof ended->counts, 1, output);
    open_count--;
    const size_t behind = (size_t)(&open_calls[open_count] - ended);
    memmove(ended, ended + 1, behind * sizeof *ended);
    current = last_begun();
}

static void begin_call(uint32_t function) {
    if (open_count == MOST_OPEN) {
        end_call(&open_calls[0]);
    }
    open_calls[open_count++] =
        (open_call){{.function = function, .lowest_stack = UINT32_MAX}, next_address, 0};
    current = last_begun();
}

/* The heap has returned, perhaps from the call that runs. */
static void end_call_at(uint64_t address) {
    if (current && current->return_address == address) {
        end_call(current);
        return;
    }
    for (uint32_t i = open_count; i-- > 0;) {
        if (open_calls[i].return_address == address) {
            end_call(&open_calls[i]);
            return;
        }
    }
}

/* Other code has gone back to the heap's: to the call that was left there, where one was. */
static void go_on_at(uint64_t address) {
    for (uint32_t i = open_count; i-- > 0;) {
        if (open_calls[i].left_at == address) {
            current = &open_calls[i];
            return;
        }
    }
}

static void count_instruction(unsigned int cpu, void *data) {
    (void)cpu;
    const uint64_t address = address_in(data);
    const bool is_inside = is_set(data, INSIDE_SHIFT);
    if (was_inside) {
        end_call_at(address);
    } else if (is_inside) {
        go_on_at(address);
    }
    was_inside = is_inside;
    next_address = address + size_in(data);
    if (is_inside && current) {
        current->counts.instructions++;
        current->left_at = next_address;
    }
}

static void enter(unsigned int cpu, void *data) {
    for (uint32_t i = 0; i < watched_count; i++) {
        if (watched[i] == address_in(data) && (open_count == 0 || !was_inside)) {
            begin_call(i);
            was_inside = true; /* the call goes on nowhere else */
        }
    }
    count_instruction(cpu, data);
}

static void count_heap_access(record *call, bool is_store, bool is_payload, unsigned int bytes) {
    if (is_payload) {
        call->payload += is_store ? bytes : 0;
    } else if (is_store) {
        call->heap_stores++;
    } else {
        call->heap_loads++;
    }
}

static void count_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
                         void *data) {
    (void)cpu;
    if (!current || !is_set(data, INSIDE_SHIFT)) {
        return;
    }
    record *const call = &current->counts;
    const bool is_store = qemu_plugin_mem_is_store(info);
    call->loads += !is_store;
    call->stores += is_store;
    if (is_in(region, address)) {
        const unsigned int bytes = 1u << qemu_plugin_mem_size_shift(info);
        count_heap_access(call, is_store, is_set(data, PAYLOAD_SHIFT), bytes);
    } else if (is_in(stack, address) && address < call->lowest_stack) {
        call->lowest_stack = (uint32_t)address;
    }
}

static bool is_watched(uint64_t address) {
    for (uint32_t i = 0; i < watched_count; i++) {
        if (watched[i] == address) {
            return true;
        }
    }
    return false;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        const uint64_t address = qemu_plugin_insn_vaddr(instruction);
        void *data = pack(address, qemu_plugin_insn_size(instruction));
        qemu_plugin_register_vcpu_insn_exec_cb(instruction,
                                               is_watched(address) ? enter : count_instruction,
                                               QEMU_PLUGIN_CB_NO_REGS, data);
        qemu_plugin_register_vcpu_mem_cb(instruction, count_access, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, data);
    }
}

static void finish(qemu_plugin_id_t id, void *data) {
    (void)id;
    (void)data;
    if (fclose(output) != 0) {
        perror("counts");
        _Exit(1);
    }
}

static range range_of(const char *text) {
    char *end;
    range found = {strtoull(text, &end, 16), 0};
    found.end = *end == ':' ? strtoull(end + 1, NULL, 16) : 0;
    return found;
}

static bool take_range(ranges *into, const char *text) {
    if (into->count == into->most) {
        return false;
    }
    into->of[into->count++] = range_of(text);
    return true;
}

static bool take_argument(const char *argument) {
    const char *value = strchr(argument, '=');
    if (value == NULL) {
        return false;
    }
    value++;
    if (strncmp(argument, "out=", 4) == 0) {
        output = fopen(value, "wb");
        return output != NULL;
    }
    if (strncmp(argument, "watch=", 6) == 0 && watched_count < MOST_WATCHED) {
        watched[watched_count++] = range_of(value).start;
        return true;
    }
    if (strncmp(argument, "payload=", 8) == 0 || strncmp(argument, "code=", 5) == 0) {
        return take_range(argument[0] == 'p' ? &payload : &code, value);
    }
    if (strncmp(argument, "region=", 7) == 0 || strncmp(argument, "stack=", 6) == 0) {
        *(argument[0] == 'r' ? &region : &stack) = range_of(value);
        return true;
    }
    return false;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int count, char **arguments) {
    if (info->version.min > QEMU_PLUGIN_API || info->version.cur < QEMU_PLUGIN_API) {
        fprintf(stderr,
                "counting plug-in: made for API version %d, but this QEMU offers %d to %d\n",
                QEMU_PLUGIN_API, info->version.min, info->version.cur);
        return 1;
    }
    for (int i = 0; i < count; i++) {
        if (!take_argument(arguments[i])) {
            fprintf(stderr, "counting plug-in: cannot take %s\n", arguments[i]);
            return 1;
        }
    }
    if (output == NULL) {
        fprintf(stderr, "counting plug-in: no out=FILE\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
