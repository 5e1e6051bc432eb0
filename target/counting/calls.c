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
 * not jumped to. Calls inside a watched call belong to it. Arguments, all addresses and sizes in
 * hexadecimal:
 *   out=FILE              the records; see `record` below
 *   watch=ADDRESS         a function's first instruction; records tell it by its ordinal, from 0
 *   region=START:END      the heap
 *   stack=START:END       where the stack grows downwards
 *   payload=START:END     code whose accesses to the heap are of payload, not of metadata
 */
#include "qemu_plugin_v1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WATCHED = 16, MOST_PAYLOAD = 4 };

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

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;

static FILE *output;
static uint64_t watched[MOST_WATCHED];
static uint32_t watched_count;
static range payload[MOST_PAYLOAD];
static uint32_t payload_count;
static range region;
static range stack;

static uint64_t next_address; /* behind the instruction executed last */
static bool is_counting;
static uint64_t return_address;
static record call;

static bool is_in(range range, uint64_t address) {
    return address >= range.start && address < range.end;
}

/* An instruction's address and size in one word; programs lie in the lowest 4 GiB. */
static void *pack(uint64_t address, size_t size, bool is_payload) {
    return (void *)(uintptr_t)(address | (uint64_t)size << 32 | (uint64_t)is_payload << 40);
}

static uint64_t address_in(const void *data) {
    return (uintptr_t)data & UINT32_MAX;
}

static void end_call(void) {
    fwrite(&call, sizeof call, 1, output);
    is_counting = false;
}

static void count_instruction(unsigned int cpu, void *data) {
    (void)cpu;
    const uint64_t address = address_in(data);
    if (is_counting && address == return_address) {
        end_call();
    }
    call.instructions += is_counting;
    next_address = address + ((uintptr_t)data >> 32 & 0xff);
}

static void begin_call(unsigned int cpu, void *data) {
    for (uint32_t i = 0; i < watched_count && !is_counting; i++) {
        if (watched[i] == address_in(data)) {
            is_counting = true;
            return_address = next_address;
            call = (record){.function = i, .lowest_stack = UINT32_MAX};
        }
    }
    count_instruction(cpu, data);
}

static void count_heap_access(bool is_store, bool is_payload, unsigned int bytes) {
    if (is_payload) {
        call.payload += is_store ? bytes : 0;
    } else if (is_store) {
        call.heap_stores++;
    } else {
        call.heap_loads++;
    }
}

static void count_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
                         void *data) {
    (void)cpu;
    if (!is_counting) {
        return;
    }
    const bool is_store = qemu_plugin_mem_is_store(info);
    call.loads += !is_store;
    call.stores += is_store;
    if (is_in(region, address)) {
        count_heap_access(is_store, (uintptr_t)data >> 40, 1u << qemu_plugin_mem_size_shift(info));
    } else if (is_in(stack, address) && address < call.lowest_stack) {
        call.lowest_stack = (uint32_t)address;
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

static bool is_payload_code(uint64_t address) {
    for (uint32_t i = 0; i < payload_count; i++) {
        if (is_in(payload[i], address)) {
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
        void *data = pack(address, qemu_plugin_insn_size(instruction), is_payload_code(address));
        qemu_plugin_register_vcpu_insn_exec_cb(instruction,
                                               is_watched(address) ? begin_call : count_instruction,
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
    if (strncmp(argument, "payload=", 8) == 0 && payload_count < MOST_PAYLOAD) {
        payload[payload_count++] = range_of(value);
        return true;
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
