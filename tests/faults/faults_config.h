/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite's build of core, with every metadata access told by its place. */
#ifndef FAULTS_CONFIG_H
#define FAULTS_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

extern bool are_accesses_noted;
void note_load(const void *heap, uint32_t offset);
void note_store(const void *heap, uint32_t offset);

/* A thousand steps after each flip are only counted: a call for each access took a third of the
 * time. */
#define HFIT_ON_LOAD(heap, offset)                                                                 \
    do {                                                                                           \
        COUNT_LOAD();                                                                              \
        if (are_accesses_noted) {                                                                  \
            note_load(heap, offset);                                                               \
        }                                                                                          \
    } while (0)
#define HFIT_ON_STORE(heap, offset)                                                                \
    do {                                                                                           \
        if (are_accesses_noted) {                                                                  \
            note_store(heap, offset);                                                              \
        }                                                                                          \
    } while (0)

#include "contract_config.h"

#endif
