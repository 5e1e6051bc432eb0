/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that knows the version; CMake and the Python package read it from here. */
#ifndef HFIT_VERSION_H
#define HFIT_VERSION_H

#define HFIT_VERSION "0.1.0"

/* Numbers the bond between plans and core. It grows when a plan struct, the layout of pools or what
 * an operation means changes; generated code compares it and refuses to compile with another. */
#define HFIT_CONTRACT 10

#endif
