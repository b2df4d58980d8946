/* SPDX-License-Identifier: Apache-2.0 */
#include "cut_plan.h"

#include <stdio.h>
#include <stdlib.h>

void cut_plan_print(const struct cut_plan *plan, char *text, size_t bytes)
{
    int at = snprintf(text, bytes, "%u %u %u", plan->shape, (unsigned)plan->seed,
                      (unsigned)plan->step);

    for (unsigned i = 0; i < plan->cuts && at >= 0 && (size_t)at < bytes; i++) {
        at += snprintf(text + at, bytes - (size_t)at, " %u %u %u %u",
                       (unsigned)plan->cut[i].after, plan->cut[i].phase, plan->cut[i].data,
                       plan->cut[i].spare);
    }
}

int cut_plan_parse(const char *text, struct cut_plan *plan)
{
    unsigned long figures[3U + 4U * CUT_PLAN_MOST];
    unsigned count = 0;
    char *end;

    for (; *text != '\0' && count < sizeof figures / sizeof figures[0]; text = end) {
        figures[count++] = strtoul(text, &end, 10);
        if (end == text) {
            return -1;
        }
    }
    if (count < 7U || (count - 3U) % 4U != 0) {
        return -1;
    }
    *plan = (struct cut_plan){.shape = (unsigned)figures[0],
                              .seed = (uint32_t)figures[1],
                              .step = (uint32_t)figures[2],
                              .cuts = (count - 3U) / 4U};
    for (unsigned i = 0; i < plan->cuts; i++) {
        plan->cut[i] = (struct nw_cut){.after = figures[3U + 4U * i],
                                       .phase = (uint8_t)figures[4U + 4U * i],
                                       .data = (uint8_t)figures[5U + 4U * i],
                                       .spare = (uint8_t)figures[6U + 4U * i]};
    }
    return 0;
}
