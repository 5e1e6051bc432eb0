/* SPDX-License-Identifier: Apache-2.0 */
/* Safety level 0: a plan is believed as it stands, so that `init` costs no walk over it. */
#include "hfit/budgeted.h"
#include "hfit/class_pools.h"

#include "check.h"

static _Alignas(16) unsigned char region[1024];

static hfit_pool pools[] = {{.size = 8, .count = 4}, {.size = 32, .count = 4}};

/* As hfit_<name>_complete leaves it, but that its seal is another's. */
static hfit_pools_plan with_another_seal(uint8_t is_exact) {
    pools[0].is_exact = pools[1].is_exact = is_exact;
    const uint32_t end = hfit_pools_lay_out(pools, 2, 8);
    hfit_pools_plan plan = {.common = {8}, .pools = {pools, 2, end}};
    CHECK(is_exact ? hfit_budgeted_complete(&plan, NULL, 0)
                   : hfit_class_pools_complete(&plan, NULL, 0));
    plan.seal ^= 1;
    return plan;
}

TEST(a_plan_is_served_whose_seal_does_not_hold) {
    const hfit_pools_plan classes = with_another_seal(0);
    hfit_heap *heap = hfit_class_pools_init(region, sizeof region, &classes.common);
    CHECK(heap != NULL && hfit_class_pools_alloc(heap, &classes.common, 20) != NULL);
    const hfit_pools_plan budgets = with_another_seal(1);
    heap = hfit_budgeted_init(region, sizeof region, &budgets.common);
    CHECK(heap != NULL && hfit_budgeted_alloc(heap, &budgets.common, 32) != NULL);
}

RUN_TESTS()
