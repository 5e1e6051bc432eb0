/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records FreeRTOS's heap, heap_1 to heap_5 or any behind the same names. Link with
 *   -Wl,--wrap=pvPortMalloc,--wrap=vPortFree,--wrap=pvPortCalloc
 * The scheduler stays suspended from the call to its record, so that events are in the order in
 * which the heap got them; vApplicationMallocFailedHook, where there is one, must not block.
 * A call between functions of one source is not seen by the linker: heap_4's pvPortCalloc asks its
 * own pvPortMalloc, so nothing is recorded twice. With -flto the linker sees none of them.
 * traceMALLOC and traceFREE are no substitute: they tell the sizes of chunks.
 */
#include "adapters/one_heap.h"

#include <FreeRTOS.h>
#include <task.h>

#if configSUPPORT_STATIC_ALLOCATION
#define TASK_MEMORY(size) NULL
#else
/* sinks/freertos_task.c, where that is linked: what its own task is created from. */
__attribute__((weak)) void *hfit_record_task_memory(size_t size);
#define TASK_MEMORY(size) (hfit_record_task_memory ? hfit_record_task_memory(size) : NULL)
#endif

void *__real_pvPortMalloc(size_t size);
void *__real_pvPortCalloc(size_t count, size_t size);
void __real_vPortFree(void *block);
void *__wrap_pvPortMalloc(size_t size);
void *__wrap_pvPortCalloc(size_t count, size_t size);
void __wrap_vPortFree(void *block);

void *__wrap_pvPortMalloc(size_t size) {
    void *own = TASK_MEMORY(size);
    if (own != NULL) {
        return own;
    }
    vTaskSuspendAll();
    void *block = __real_pvPortMalloc(size);
    HFIT_RECORD_CALLER();
    hfit_record_alloc(&hfit_one_heap, block, size);
    (void)xTaskResumeAll();
    return block;
}

void *__wrap_pvPortCalloc(size_t count, size_t size) {
    vTaskSuspendAll();
    void *block = __real_pvPortCalloc(count, size);
    HFIT_RECORD_CALLER();
    hfit_record_zeroed(&hfit_one_heap, block, count * size);
    (void)xTaskResumeAll();
    return block;
}

void __wrap_vPortFree(void *block) {
    vTaskSuspendAll();
    hfit_record_free(&hfit_one_heap, block);
    __real_vPortFree(block);
    (void)xTaskResumeAll();
}
