/* SPDX-License-Identifier: Apache-2.0 */
/* The workloads known by name. */
#include <string.h>

#include "nandwich-replay/workload.h"

#define MS 1000000U
#define KB 1024U

/* Gap in hundredths of a millisecond and size in hundredths of a KB, as the study's table prints
 * them; sizes in sectors of 512 B. */
#define HEATING(gap, mean)                                                                         \
    .gap_ns = (uint64_t)(gap) * MS / 100U, .size = (mean) * KB / 100U, .align = 512

const struct nw_workload_config nw_workloads[] = {
    {.name = "uniform",
     .what = "random writes of 4 KB, every place alike",
     .requests = 1000000,
     .size = 4 * KB,
     .align = 4 * KB,
     .writes = 1000,
     .place = NW_PLACE_UNIFORM,
     .fixed = NW_FIXED_SIZE | NW_FIXED_GAP},
    {.name = "zipf",
     .what = "random writes of 4 KB, few places wanted often (theta 0.99)",
     .requests = 1000000,
     .size = 4 * KB,
     .align = 4 * KB,
     .writes = 1000,
     .theta = 990,
     .place = NW_PLACE_ZIPF,
     .fixed = NW_FIXED_SIZE | NW_FIXED_GAP},
    {.name = "sequential",
     .what = "writes of 64 KB from start to end",
     .requests = 100000,
     .size = 64 * KB,
     .align = 4 * KB,
     .writes = 1000,
     .place = NW_PLACE_SEQUENTIAL,
     .fixed = NW_FIXED_SIZE | NW_FIXED_GAP},
    {.name = "hotcold",
     .what = "random writes of 4 KB, 80 % of them to a fifth of the device",
     .requests = 1000000,
     .size = 4 * KB,
     .align = 4 * KB,
     .writes = 1000,
     .hot_share = 800,
     .hot_space = 200,
     .place = NW_PLACE_HOT,
     .fixed = NW_FIXED_SIZE | NW_FIXED_GAP},
    {.name = "sensorlog",
     .what = "a node that appends 512 B each 100 ms, keeps an index, is read out now and then",
     .requests = 200000,
     .gap_ns = (uint64_t)100 * MS,
     .size = 512,
     .align = 512,
     .writes = 950,
     .meta = 100,
     .place = NW_PLACE_LOG,
     .fixed = NW_FIXED_SIZE | NW_FIXED_GAP},
    {.name = "tpc",
     .what = "a database in the manner of TPC-C: 8 KB pages, 75 % to a fifth of them, and a log",
     .requests = 500000,
     .gap_ns = 2 * MS,
     .size = 8 * KB,
     .align = 8 * KB,
     .writes = 350,
     .hot_share = 750,
     .hot_space = 200,
     .meta = 100,
     .place = NW_PLACE_DATABASE,
     .fixed = NW_FIXED_SIZE},
    {.name = "filecopy",
     .what = "DHeating study: File Copy; ours: nine in ten go on in order, jumps 80 to 20",
     .requests = 645895,
     HEATING(819, 317),
     .writes = 908,
     .run = 900,
     .hot_share = 800,
     .hot_space = 200,
     .place = NW_PLACE_HOT},
    {.name = "sensor",
     .what = "DHeating study: Sensor; ours: an appended log with a small index",
     .requests = 777945,
     HEATING(812, 226),
     .writes = 927,
     .meta = 300,
     .place = NW_PLACE_LOG},
    {.name = "multimedia",
     .what = "DHeating study: Multimedia; ours: long runs, jumps 80 to 20",
     .requests = 790925,
     HEATING(19690, 4803),
     .writes = 831,
     .run = 950,
     .hot_share = 800,
     .hot_space = 200,
     .place = NW_PLACE_HOT},
    {.name = "nfs",
     .what = "DHeating study: NFS; ours: half go on in order, jumps 80 to 20",
     .requests = 850700,
     HEATING(840, 2938),
     .writes = 894,
     .run = 500,
     .hot_share = 800,
     .hot_space = 200,
     .place = NW_PLACE_HOT},
    {.name = "sdcard",
     .what = "DHeating study: SD card; ours: long runs, jumps 90 to 10 (the file table)",
     .requests = 987970,
     HEATING(3830, 4987),
     .writes = 950,
     .run = 900,
     .hot_share = 900,
     .hot_space = 100,
     .place = NW_PLACE_HOT},
    {.name = "ftp",
     .what = "DHeating study: FTP; ours: long runs, jumps 70 to 30",
     .requests = 518575,
     HEATING(7297, 2005),
     .writes = 974,
     .run = 950,
     .hot_share = 700,
     .hot_space = 300,
     .place = NW_PLACE_HOT},
};
const uint32_t nw_workload_count = sizeof nw_workloads / sizeof nw_workloads[0];

const struct nw_workload_config *nw_workload_find(const char *name)
{
    for (uint32_t i = 0; i < nw_workload_count; i++) {
        if (strcmp(nw_workloads[i].name, name) == 0) {
            return &nw_workloads[i];
        }
    }
    return NULL;
}
