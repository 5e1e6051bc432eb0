/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays from a heap that is told each size at delete, most of them deleted without; the heap's
 * own free aborts where it is told another size than was asked for. Ends with 0; with an argument
 * deletes a single object without its size.
 */
#include "app_heap.hpp"

namespace {

struct alignas(64) Line {
    unsigned char bytes[64];
};

struct Counted {
    static int live;
    Counted() { live++; }
    ~Counted() { live--; }
};
int Counted::live;

volatile std::size_t beyond_all = SIZE_MAX - 4; // where its own size would overflow

/* 0 if each array is aligned, apart from the others and taken back. */
int use_arrays() {
    auto *chars = new char[7];
    auto *lines = new Line[3];
    auto *counted = new (std::nothrow) Counted[5];
    auto *more = new (std::nothrow) Line[1];
    const bool aligned = reinterpret_cast<std::uintptr_t>(lines) % 64 == 0;
    chars[6] = 1;
    lines[2].bytes[63] = 2;
    more->bytes[0] = 3;
    const bool kept = chars[6] == 1 && lines[2].bytes[63] == 2 && Counted::live == 5;
    delete[] chars;
    delete[] lines;
    delete[] counted;
    operator delete[](more, sizeof(Line), std::align_val_t(64));
    delete[] static_cast<char *>(nullptr);
    const bool refused = operator new[](beyond_all, std::nothrow) == nullptr;
    return aligned && kept && refused && Counted::live == 0 ? 0 : 1;
}

} // namespace

int main(int count, char **) {
    void *before = app_malloc(1); // refused: the heap is not made yet
    const int failed = use_arrays();
    int *single = new int(1);
    if (count > 1) {
        operator delete(static_cast<void *>(single));
    }
    delete single;
    operator delete(nullptr);
    return failed == 0 && before == nullptr && app_heap_check() ? 0 : 1;
}
