/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What core asks of a compiler beyond C11: the one place that names gcc, clang and those that claim
 * to be one of them by __GNUC__. Any other compiler gets plain C, which places every block alike.
 *
 * Plain C cannot say one thing: that words of metadata lie in memory that programs use as any type.
 * A compiler that draws conclusions from types must be told not to (IAR: --no_tbaa).
 */
#ifndef HFIT_COMPILER_H
#define HFIT_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined __GNUC__ || defined __clang__
#define HFIT_HAS_GNU_C 1
#define HFIT_ALWAYS_INLINE __attribute__((always_inline))
#define HFIT_NOT_INLINE __attribute__((noinline))
#define HFIT_FLATTEN __attribute__((flatten)) /* with all that it calls in its own code */
#define HFIT_MAY_ALIAS __attribute__((may_alias))
#define HFIT_LIKELY(condition) __builtin_expect((condition), 1)
#else
#define HFIT_HAS_GNU_C 0
#define HFIT_ALWAYS_INLINE
#define HFIT_NOT_INLINE
#define HFIT_FLATTEN
#define HFIT_MAY_ALIAS
#define HFIT_LIKELY(condition) (condition)
#endif

/* Puts what is declared next into a section of this name, which is a string. For another compiler a
 * build that asks for a section defines it. */
#if HFIT_HAS_GNU_C && !defined HFIT_IN_SECTION
#define HFIT_IN_SECTION(name) __attribute__((section(name)))
#endif

/* Before a loop of few steps: they are written one after the other, up to `times` of them. */
#if HFIT_HAS_GNU_C
#define HFIT_PRAGMA(text) _Pragma(#text)
#define HFIT_STEP_BY_STEP(times) HFIT_PRAGMA(GCC unroll times)
#else
#define HFIT_STEP_BY_STEP(times)
#endif

/* Whether the build asks for few bytes rather than few instructions; where the compiler does not
 * tell, a build may say -DHFIT_IS_FOR_SIZE=1. */
#ifndef HFIT_IS_FOR_SIZE
#ifdef __OPTIMIZE_SIZE__
#define HFIT_IS_FOR_SIZE 1
#else
#define HFIT_IS_FOR_SIZE 0
#endif
#endif

/* Zero bits above the highest set one, and below the lowest; `word` is not 0. Macros where they can
 * be: with a call in its place gcc inlines other functions than these. */
#if HFIT_HAS_GNU_C
#define hfit_leading_zeros(word) ((uint32_t)__builtin_clz(word))
#define hfit_trailing_zeros(word) ((uint32_t)__builtin_ctz(word))
#else
static inline uint32_t hfit_leading_zeros(uint32_t word) {
    uint32_t zeros = 0;
    for (uint32_t half = 16; half != 0; half /= 2) {
        if (word >> (32 - half) == 0) {
            zeros += half;
            word <<= half;
        }
    }
    return zeros;
}

static inline uint32_t hfit_trailing_zeros(uint32_t word) {
    return 31 - hfit_leading_zeros(word & (0u - word));
}
#endif

/* Stores `count` times `size`. False if that is too large to be told. */
static inline bool hfit_product(size_t count, size_t size, size_t *product) {
#if HFIT_HAS_GNU_C
    return !__builtin_mul_overflow(count, size, product);
#else
    *product = count * size;
    return size == 0 || count <= SIZE_MAX / size;
#endif
}

#endif
