/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.h - which Nandwich this is. Versions follow semver.org; CHANGELOG.md says what became of
 * formats on flash, which have numbers of their own.
 */
#ifndef NANDWICH_VERSION_H
#define NANDWICH_VERSION_H

#define NW_VERSION_MAJOR 0
#define NW_VERSION_MINOR 1
#define NW_VERSION_PATCH 0

#endif
