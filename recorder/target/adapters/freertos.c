/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records FreeRTOS's heap, heap_1 to heap_5 or any behind the same names. Link with
 *   -Wl,--wrap=pvPortMalloc,--wrap=vPortFree,--wrap=pvPortCalloc
 * A call between functions of one source is not seen by the linker: heap_4's pvPortCalloc asks its
 * own pvPortMalloc, so nothing is told twice. With -flto the linker sees none of them.
 * traceMALLOC and traceFREE are no substitute: they tell the sizes of chunks.
 */
#include "adapters/one_heap.h"

void *__real_pvPortMalloc(size_t size);
void *__real_pvPortCalloc(size_t count, size_t size);
void __real_vPortFree(void *block);
void *__wrap_pvPortMalloc(size_t size);
void *__wrap_pvPortCalloc(size_t count, size_t size);
void __wrap_vPortFree(void *block);

void *__wrap_pvPortMalloc(size_t size) {
    void *block = __real_pvPortMalloc(size);
    hfit_record_alloc(&hfit_one_heap, block, size);
    return block;
}

void *__wrap_pvPortCalloc(size_t count, size_t size) {
    void *block = __real_pvPortCalloc(count, size);
    hfit_record_zeroed(&hfit_one_heap, block, count * size);
    return block;
}

void __wrap_vPortFree(void *block) {
    hfit_record_free(&hfit_one_heap, block);
    __real_vPortFree(block);
}
