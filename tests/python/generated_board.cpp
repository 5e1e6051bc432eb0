/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a replay in C++ needs of a board: events by semihosting, and the few names of the C++
 * library that it links, whose build for the board takes 2 GB on a disk.
 */
#include "generated_events.h"

#include <cstdlib>
#include <memory_resource>
#include <new>

extern "C" {
int semihost_open(const char *name);
std::size_t semihost_read(int file, void *to, std::size_t bytes);
void semihost_print_count(const char *name, std::uint32_t value);
void semihost_print_hash(const char *name, std::uint64_t value);
[[noreturn]] void semihost_exit(int code);

[[noreturn]] void abort() {
    semihost_exit(6);
}

/* Called by the memory resource's vtable alone. */
[[noreturn]] void __cxa_pure_virtual() {
    semihost_exit(7);
}

/* Names compared to choose a way. */
int strcmp(const char *one, const char *other) {
    for (; *one != 0 && *one == *other; one++, other++) {
    }
    return static_cast<unsigned char>(*one) - static_cast<unsigned char>(*other);
}
}

const std::nothrow_t std::nothrow{};

std::new_handler std::get_new_handler() noexcept {
    return nullptr;
}

std::pmr::memory_resource::~memory_resource() = default;

namespace {

constexpr std::size_t at_once = 1024;
replay_event events[at_once];
std::size_t left, next;
int file = -1;

} // namespace

bool open_events(const char *name) {
    file = semihost_open(name);
    return file >= 0;
}

bool next_event(replay_event *event) {
    if (next == left) {
        left = semihost_read(file, events, sizeof events) / sizeof events[0];
        next = 0;
    }
    if (left != 0) {
        *event = events[next++];
    }
    return left != 0;
}

void tell_result(std::uint64_t placement_hash, std::uint32_t refusals, std::uint32_t footprint) {
    semihost_print_hash("placement_hash", placement_hash);
    semihost_print_count("refusals", refusals);
    semihost_print_count("footprint", footprint);
}
