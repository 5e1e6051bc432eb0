/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that knows the version; CMake and the Python package read it from here. */
#ifndef HFIT_VERSION_H
#define HFIT_VERSION_H

#define HFIT_VERSION "0.1.0"

#endif
