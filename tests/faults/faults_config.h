/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite's build of core, with every metadata access told by its place. */
#ifndef FAULTS_CONFIG_H
#define FAULTS_CONFIG_H

#include <stdint.h>

void note_load(const void *heap, uint32_t offset);
void note_store(const void *heap, uint32_t offset);

#define HFIT_ON_LOAD(heap, offset) note_load(heap, offset)
#define HFIT_ON_STORE(heap, offset) note_store(heap, offset)

#include "contract_config.h"

#endif
