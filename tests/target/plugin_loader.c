/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU as the counting plug-in sees it when it is loaded. Usage: loader OLDEST NEWEST ARGUMENT...
 * Prints what qemu_plugin_install returns. */
#include "counting/qemu_plugin_v1.h"

#include <stdio.h>
#include <stdlib.h>

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_cb callback) {
    (void)id;
    (void)callback;
}

void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_exit_cb callback, void *data) {
    (void)id;
    (void)callback;
    (void)data;
}

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
                                            qemu_plugin_insn_cb callback,
                                            enum qemu_plugin_cb_flags flags, void *data) {
    (void)instruction;
    (void)callback;
    (void)flags;
    (void)data;
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction,
                                      qemu_plugin_mem_cb callback, enum qemu_plugin_cb_flags flags,
                                      enum qemu_plugin_mem_rw which, void *data) {
    (void)instruction;
    (void)callback;
    (void)flags;
    (void)which;
    (void)data;
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block) {
    (void)block;
    return 0;
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index) {
    (void)block;
    (void)index;
    return NULL;
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction) {
    (void)instruction;
    return 0;
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction) {
    (void)instruction;
    return 0;
}

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info) {
    (void)info;
    return false;
}

unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info) {
    (void)info;
    return 0;
}

int main(int count, char **words) {
    const qemu_info_t info = {.version = {atoi(words[1]), atoi(words[2])}};
    printf("%d\n", qemu_plugin_install(0, &info, count - 3, words + 3));
    return 0;
}
