/* SPDX-License-Identifier: Apache-2.0 */
/* What a generated heap uses of ESP-IDF's FreeRTOS, declared by ourselves after its documentation.
 */
#ifndef TEST_ESP_IDF_FREERTOS_H
#define TEST_ESP_IDF_FREERTOS_H

typedef struct {
    unsigned owner;
    unsigned count;
} portMUX_TYPE;

#define portMUX_INITIALIZER_UNLOCKED                                                               \
    { 0, 0 }

void test_enter_critical(portMUX_TYPE *mux);
void test_exit_critical(portMUX_TYPE *mux);
#define portENTER_CRITICAL_SAFE(mux) test_enter_critical(mux)
#define portEXIT_CRITICAL_SAFE(mux) test_exit_critical(mux)

#endif
