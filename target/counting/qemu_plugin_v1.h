/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of QEMU's plug-in API that we use, declared here since Debian ships no header of it.
 * Source: "QEMU TCG Plugins" in QEMU's documentation, API version 1 (QEMU 4.2 to 8.x). QEMU 9
 * asks for version 2 or later and refuses a plug-in of version 1 by itself.
 */
#ifndef TARGET_QEMU_PLUGIN_V1_H
#define TARGET_QEMU_PLUGIN_V1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))
#define QEMU_PLUGIN_API 1

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;

typedef struct qemu_info_t {
    const char *target_name;
    struct {
        int min;
        int cur;
    } version; /* of the API: the oldest and the newest it takes */
    bool system_emulation;
    struct {
        int smp_vcpus;
        int max_vcpus;
    } system;
} qemu_info_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void (*qemu_plugin_tb_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*qemu_plugin_exit_cb)(qemu_plugin_id_t id, void *data);
typedef void (*qemu_plugin_insn_cb)(unsigned int cpu, void *data);
typedef void (*qemu_plugin_mem_cb)(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
                                   void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_cb callback);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_exit_cb callback, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
                                            qemu_plugin_insn_cb callback,
                                            enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction,
                                      qemu_plugin_mem_cb callback, enum qemu_plugin_cb_flags flags,
                                      enum qemu_plugin_mem_rw which, void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info); /* log2 of the bytes */

/* What a plug-in itself must have. */
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int count,
                                           char **arguments);

#endif
