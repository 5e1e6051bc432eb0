/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device that keeps its settings as a cJSON tree, takes changes as JSON messages and sends
 * batches of readings as JSON: device SENSORS BATCH STEPS SEED.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

static uint32_t state;

/* Park and Miller 1988. */
static uint32_t draw(uint32_t n) {
    state = (uint32_t)((uint64_t)state * 16807 % 2147483647);
    return state % n;
}

static cJSON *initial_settings(uint32_t sensors) {
    cJSON *settings = cJSON_CreateObject();
    for (uint32_t i = 0; i < sensors; i++) {
        char name[16];
        snprintf(name, sizeof(name), "sensor-%u", i);
        cJSON *sensor = cJSON_AddObjectToObject(settings, name);
        cJSON_AddNumberToObject(sensor, "interval", 10 + draw(600));
        cJSON_AddStringToObject(sensor, "unit", draw(2) ? "C" : "percent");
        cJSON_AddBoolToObject(sensor, "enabled", draw(4) != 0);
    }
    return settings;
}

/* A message from the server, which puts a new object in a sensor's place. */
static void change(cJSON *settings, uint32_t sensors) {
    char name[16];
    char message[160];
    snprintf(name, sizeof(name), "sensor-%u", draw(sensors));
    snprintf(message, sizeof(message),
             "{\"interval\":%u,\"unit\":\"%s\",\"enabled\":true,\"limits\":[%u,%u,%u]}",
             10 + draw(600), draw(2) ? "Pa" : "degrees", draw(50), draw(90), draw(200));
    cJSON *parsed = cJSON_Parse(message);
    if (parsed != NULL) {
        cJSON_ReplaceItemInObject(settings, name, parsed);
    }
}

static void add_reading(cJSON *batch, uint32_t sensors, uint32_t time) {
    cJSON *reading = cJSON_CreateObject();
    cJSON_AddNumberToObject(reading, "time", time);
    cJSON_AddNumberToObject(reading, "sensor", draw(sensors));
    cJSON_AddNumberToObject(reading, "value", draw(10000) / 100.0);
    if (draw(8) == 0) {
        cJSON_AddStringToObject(reading, "warning", "value is out of its limits");
    }
    cJSON_AddItemToArray(batch, reading);
}

static size_t send(const cJSON *batch) {
    size_t length = 0;
    char *text = cJSON_PrintUnformatted(batch);
    while (text != NULL && text[length] != '\0') {
        length++;
    }
    cJSON_free(text);
    return length;
}

int main(int count, char **arguments) {
    if (count != 5) {
        return 2;
    }
    const uint32_t sensors = (uint32_t)atoi(arguments[1]);
    const uint32_t largest_batch = (uint32_t)atoi(arguments[2]);
    const uint32_t steps = (uint32_t)atoi(arguments[3]);
    state = (uint32_t)atoi(arguments[4]);
    cJSON *settings = initial_settings(sensors);
    cJSON *batch = cJSON_CreateArray();
    uint32_t due = largest_batch;
    size_t sent = 0;
    for (uint32_t step = 0; step < steps; step++) {
        add_reading(batch, sensors, step);
        if (draw(20) == 0) {
            change(settings, sensors);
        }
        if (--due == 0) {
            sent += send(batch);
            cJSON_Delete(batch);
            batch = cJSON_CreateArray();
            due = 1 + draw(largest_batch);
        }
    }
    printf("%zu bytes sent\n", sent);
    cJSON_Delete(batch);
    cJSON_Delete(settings);
    return 0;
}
