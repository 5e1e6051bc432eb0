/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel that takes turns, for boards without FreeRTOS's sources. Its start is as that of
 * FreeRTOS's ports for Cortex-M: interrupts get main's stack from its beginning on, and main never
 * returns. What lay there is overwritten.
 */
#include <FreeRTOS.h>
#include <task.h>

enum { CLOCK_HZ = 25000000, TICK_RUNS = 7, SAVED = 9 /* r4 to r11, pc */ };

static StaticTask_t *current, *first;
static volatile TickType_t now;

static void begin(void) {
    current->function(current->context);
}

StaticTask_t *xTaskCreateStatic(void (*function)(void *), const char *name, size_t words,
                                void *context, UBaseType_t priority, StackType_t *stack,
                                StaticTask_t *task) {
    (void)name, (void)priority;
    stack[words - 1] = (uint32_t)begin;
    *task = (StaticTask_t){stack + words - SAVED, 0, first, function, context};
    first = task;
    return task;
}

/* As the kernel does: first the stack, then what it knows of the task. */
BaseType_t xTaskCreate(void (*function)(void *), const char *name, size_t words, void *context,
                       UBaseType_t priority, StaticTask_t **made) {
    StackType_t *stack = pvPortMalloc(words * sizeof(StackType_t));
    StaticTask_t *task = pvPortMalloc(sizeof *task);
    (void)made;
    return xTaskCreateStatic(function, name, words, context, priority, stack, task) == task;
}

__attribute__((naked, noinline)) static void change(uint32_t **from, uint32_t *to) {
    (void)from, (void)to;
    __asm__ volatile("push {r4-r11, lr}\n\tstr sp, [r0]\n\tmov sp, r1\n\tpop {r4-r11, pc}");
}

void vTaskDelay(TickType_t ticks) {
    StaticTask_t *const left = current;
    left->due = now + ticks;
    do {
        current = current->next != NULL ? current->next : first;
    } while (current->due > now);
    if (current != left) {
        change(&left->stack, current->stack);
    }
}

void vTaskStartScheduler(void) {
    volatile uint32_t *const systick = (volatile uint32_t *)0xe000e010; /* control, reload, value */
    systick[1] = CLOCK_HZ / configTICK_RATE_HZ - 1;
    systick[0] = TICK_RUNS;
    current = first;
    __asm__ volatile("ldr r0, =0xe000ed08\n\tldr r0, [r0]\n\tldr r0, [r0]\n\tmsr msp, r0\n\t"
                     "msr psp, %0\n\tmovs r0, #2\n\tmsr control, r0\n\tisb\n\tpop {r4-r11, pc}"
                     :
                     : "r"(first->stack)
                     : "r0", "memory");
}

/* With some of a handler's frame. */
void xPortSysTickHandler(void) {
    volatile uint32_t frame[32];
    for (int i = 0; i < 32; i++) {
        frame[i] = now;
    }
    (void)frame[0];
    now++;
}

void vTaskSuspendAll(void) {}

BaseType_t xTaskResumeAll(void) {
    return 0;
}

TickType_t xTaskGetTickCountFromISR(void) {
    return now;
}
