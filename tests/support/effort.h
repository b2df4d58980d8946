/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort.h - how much of a long test a build tries. The plain build judges what the code does, over
 * all cases. The sanitized one looks for what a plain run cannot see in the same code: a share of
 * the cases comes through all of it.
 */
#ifndef NANDWICH_TESTS_EFFORT_H
#define NANDWICH_TESTS_EFFORT_H

#ifdef __SANITIZE_ADDRESS__
#define EFFORT(all, share) (share)
#else
#define EFFORT(all, share) (all)
#endif

#endif
