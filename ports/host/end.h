/* SPDX-License-Identifier: Apache-2.0 */
/*
 * end.h - called however a guest program ends; start.c (virtual) and native.c (its native twin)
 * each define it.
 */
#ifndef NW_HOST_END_H
#define NW_HOST_END_H

/* Reports once, in the process that started; later calls and children do nothing. */
void nw_host_end(void);

/* Reports what was counted until here: the program is about to be replaced by another (exec), after
 * which nobody could. If that fails, the program goes on and its end reports again. */
void nw_host_replaced(void);

#endif
