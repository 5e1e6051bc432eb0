/* SPDX-License-Identifier: Apache-2.0 */
/* The part of inttypes that the contract suite needs. */
#ifndef HOSTED_INTTYPES_H
#define HOSTED_INTTYPES_H

#include <stdint.h>

#endif
