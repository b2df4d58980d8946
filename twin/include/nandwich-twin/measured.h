/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measured.h - a part that nw_chip_check() (nandwich/check.h) has measured, as a file for the twin.
 */
#ifndef NANDWICH_TWIN_MEASURED_H
#define NANDWICH_TWIN_MEASURED_H

#include "nandwich/check.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Writes the TOML that `nandwich chips FILE` takes. The file is replaced whole or not at all
 * (file.h). NW_OK, or NW_ERR_IO: errno tells why, and what was there stays.
 */
int nw_measured_save(const struct nw_check *check, const char *path);

#ifdef __cplusplus
}
#endif

#endif
