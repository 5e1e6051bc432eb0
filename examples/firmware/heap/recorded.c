/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records every request, whatever heap serves it: linked in with --wrap=pvPortMalloc and
 * --wrap=vPortFree. Frames leave through the debugger when nothing else is to be done.
 */
#include "application/hooks.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"
#include "recorder/target/adapters/one_heap.h"
#include "recorder/target/sinks/sinks.h"

void *__real_pvPortMalloc(size_t size);
void __real_vPortFree(void *block);

static hfit_semihosting_sink sink;

void idle_hook(void) {
    (void)hfit_record_drain(&hfit_one_heap, hfit_record_to_semihosting, &sink);
}

void end_hook(void) {
    hfit_record_close_frame(&hfit_one_heap);
    idle_hook();
}

/* The heap's lock is held over both, so that events come in the order of what they tell of. */
void *__wrap_pvPortMalloc(size_t size) {
    vTaskSuspendAll();
    void *const block = __real_pvPortMalloc(size);
    hfit_record_alloc(&hfit_one_heap, block, size);
    (void)xTaskResumeAll();
    return block;
}

void __wrap_vPortFree(void *block) {
    vTaskSuspendAll();
    hfit_record_free(&hfit_one_heap, block);
    __real_vPortFree(block);
    (void)xTaskResumeAll();
}
