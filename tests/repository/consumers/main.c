/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest user of the library: one heap, one block. Prints the version it was built with. */
#include <stdio.h>

#include "hfit/tlsf.h"
#include "hfit/version.h"

static _Alignas(8) unsigned char region[4096];
static const hfit_tlsf_plan plan = {.common = {.alignment = 8}};

int main(void) {
    hfit_heap *heap = hfit_tlsf_init(region, sizeof region, &plan.common);
    void *block = heap == NULL ? NULL : hfit_tlsf_alloc(heap, &plan.common, 100);
    if (block == NULL) {
        return 1;
    }
    hfit_tlsf_free(heap, &plan.common, block);
    return puts(HFIT_VERSION) == EOF;
}
