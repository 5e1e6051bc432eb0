/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays events on a generated heap as generated_replay.c does, by what C++ has for it:
 *
 *   new        operator new and delete, in turn single and array, throwing and not, sized and not
 *   quiet      of these, what does not throw
 *   resource   the memory resource
 *   allocator  the allocator, and the resource for what is aligned
 *
 * C++ has no resizing, so that is C's here. Without exceptions `quiet` alone outlives a refusal.
 * Events come from generated_events.h, which a host and a board have each in a way of its own.
 *
 * Usage: replay FILE HOW
 */
#include "app_heap.hpp"
#include "generated_events.h"

#include <algorithm>
#include <cstring>

/* The generated region: static there, made visible in the object under test. */
extern "C" unsigned char app_heap_region[];

namespace {

enum { ALLOC, ZEROED, ALIGNED, RESIZE, FREE, MOST_OBJECTS = 1 << 16 };

struct Object {
    void *block;
    std::size_t size, alignment;
};

/* How to ask and give back; `turn` chooses between forms that must do the same. */
struct Way {
    void *(*ask)(std::size_t size, std::size_t alignment, unsigned turn);
    void (*give)(const Object &object, unsigned turn);
};

/* Of an alignment that no form takes apart from the usual one. */
bool is_usual(std::size_t alignment) {
    return alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
}

/* A heap that is told its sizes puts those of arrays in front, where no recording has them. */
bool is_array(unsigned turn) {
    return !APP_IS_SIZED && turn % 2 == 1;
}

void *ask_quietly(std::size_t size, std::size_t alignment, unsigned turn) {
    const auto number = std::align_val_t(alignment);
    if (is_usual(alignment)) {
        return is_array(turn) ? operator new[](size, std::nothrow) :
                              operator new(size, std::nothrow);
    }
    return is_array(turn) ? operator new[](size, number, std::nothrow) :
                          operator new(size, number, std::nothrow);
}

void give_array(const Object &object, unsigned turn) {
    const auto number = std::align_val_t(object.alignment);
    if (is_usual(object.alignment)) {
        turn % 3 == 0 ? operator delete[](object.block) :
                      operator delete[](object.block, object.size);
    } else {
        turn % 3 == 0 ? operator delete[](object.block, number) :
                      operator delete[](object.block, object.size, number);
    }
}

void give_single(const Object &object, unsigned turn) {
    const auto number = std::align_val_t(object.alignment);
    const bool is_told = APP_IS_SIZED || turn % 3 != 0;
    if (is_usual(object.alignment)) {
        is_told ? operator delete(object.block, object.size) : operator delete(object.block);
    } else {
        is_told ? operator delete(object.block, object.size, number) :
                operator delete(object.block, number);
    }
}

void give_new(const Object &object, unsigned turn) {
    is_array(turn) ? give_array(object, turn) : give_single(object, turn);
}

void *ask_new(std::size_t size, std::size_t alignment, unsigned turn) {
    if (turn % 4 < 2) {
        return ask_quietly(size, alignment, turn);
    }
    const auto number = std::align_val_t(alignment);
    if (is_usual(alignment)) {
        return is_array(turn) ? operator new[](size) : operator new(size);
    }
    return is_array(turn) ? operator new[](size, number) : operator new(size, number);
}

void *ask_resource(std::size_t size, std::size_t alignment, unsigned) {
    return app_heap::resource()->allocate(size, alignment);
}

void give_resource(const Object &object, unsigned) {
    app_heap::resource()->deallocate(object.block, object.size, object.alignment);
}

void *ask_allocator(std::size_t size, std::size_t alignment, unsigned turn) {
    return alignment > 1 ? ask_resource(size, alignment, turn)
                         : app_heap::allocator<unsigned char>().allocate(size);
}

void give_allocator(const Object &object, unsigned) {
    app_heap::allocator<unsigned char>().deallocate(static_cast<unsigned char *>(object.block),
                                                    object.size);
}

Way way_named(const char *name) {
    if (std::strcmp(name, "new") == 0) {
        return {ask_new, give_new};
    }
    if (std::strcmp(name, "quiet") == 0) {
        return {ask_quietly, give_new};
    }
    return std::strcmp(name, "resource") == 0 ? Way{ask_resource, give_resource}
                                              : Way{ask_allocator, give_allocator};
}

#if defined(__cpp_exceptions)
/* nullptr where it throws. */
void *ask(const Way &way, std::size_t size, std::size_t alignment, unsigned turn) {
    try {
        return way.ask(size, alignment, turn);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}
#else
void *ask(const Way &way, std::size_t size, std::size_t alignment, unsigned turn) {
    return way.ask(size, alignment, turn);
}
#endif

Object objects[MOST_OBJECTS];
std::uint64_t placement_hash = 0xcbf29ce484222325;
std::uint32_t refusals;
bool have_changed; /* bytes of a live block */

unsigned char fill_of(const Object &object) {
    return static_cast<unsigned char>(&object - objects);
}

void place(Object &object, void *block, std::size_t size) {
    if (block == nullptr) {
        refusals++;
        return;
    }
    const auto distance = static_cast<unsigned char *>(block) - app_heap_region;
    const auto offset = static_cast<std::uint32_t>(distance);
    placement_hash = (placement_hash ^ offset) * 0x100000001b3;
    object.block = block;
    object.size = size;
    std::memset(block, fill_of(object), size);
}

/* What was written is there, up to so many bytes. */
bool keeps(const Object &object, const void *block, std::size_t size) {
    const auto *bytes = static_cast<const unsigned char *>(block);
    return std::all_of(bytes, bytes + size, [&](auto byte) { return byte == fill_of(object); });
}

void *resized(const Object &object, std::size_t size) {
#if APP_IS_SIZED
    return app_realloc_sized(object.block, object.size, size);
#else
    return app_realloc(object.block, size);
#endif
}

void replay(const replay_event &event, Object &object, const Way &way) {
    const std::size_t size = event.size > SIZE_MAX ? SIZE_MAX : std::size_t(event.size);
    if (event.op <= ALIGNED) {
        object.alignment = event.op == ALIGNED && event.alignment > 1 ? event.alignment : 1;
        place(object, ask(way, size, object.alignment, event.object), size);
    } else if (event.op == RESIZE && object.block != nullptr && size != 0) {
        void *const moved = resized(object, size);
        have_changed |= moved != nullptr && !keeps(object, moved, std::min(size, object.size));
        place(object, moved, size);
    } else if (object.block != nullptr) {
        have_changed |= !keeps(object, object.block, object.size);
        way.give(object, event.object);
        object.block = nullptr;
    }
}

} // namespace

int main(int count, char **words) {
    if (count != 3 || !open_events(words[1])) {
        return 2;
    }
    const Way way = way_named(words[2]);
    replay_event next;
    while (next_event(&next)) {
        replay(next, objects[next.object], way);
    }
    tell_result(placement_hash, refusals, static_cast<std::uint32_t>(app_heap_footprint()));
    return app_heap_check() && !have_changed ? 0 : 1;
}
