/* SPDX-License-Identifier: Apache-2.0 */
#include "hfit/pools.h"
