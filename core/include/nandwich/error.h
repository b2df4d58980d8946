/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - what every public function of Nandwich may answer.
 *
 * A function returns a value >= 0 when it did what was asked, or one of these negative numbers.
 * The numbers are part of the interface: they are never reused, new ones go last.
 */
#ifndef NANDWICH_ERROR_H
#define NANDWICH_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

enum nw_error {
    NW_OK = 0,
    NW_ERR_CONFIG = -1,      /* a configuration contradicts itself or its part; nothing touched */
    NW_ERR_RAM = -2,         /* the RAM the caller gave is smaller than nw_..._ram_bytes() says */
    NW_ERR_RANGE = -3,       /* an address, offset, length or index outside the device or object */
    NW_ERR_ALIGN = -4,       /* not a multiple of the unit the device programs in */
    NW_ERR_UNSUPPORTED = -5, /* the part or layer below has no such verb */
    NW_ERR_BAD_BLOCK = -6,   /* the block is marked bad */
    NW_ERR_PROGRAM = -7,     /* the chip reports a failed program: the page holds anything */
    NW_ERR_ERASE = -8,       /* the chip reports a failed erase: the block is worn out */
    NW_ERR_ECC = -9,         /* more bits flipped than the code corrects; do not use the data */
    NW_ERR_POWER = -10,      /* power was lost; every call answers this until power is back */
    NW_ERR_NOT_ERASED = -11, /* misuse: programming bytes programmed since the last erase */
    NW_ERR_PROGRAMS = -12,   /* misuse: more programs of a page than the part allows */
    NW_ERR_ORDER = -13,      /* misuse: a page below one already programmed in its block */
    NW_ERR_UNWRITTEN = -14,  /* misuse: reading data that was never programmed since the erase */
    NW_ERR_FULL = -15,       /* no room left; what is stored stays readable */
    NW_ERR_CORRUPT = -16,    /* stored data contradicts itself; the caller is told where */
    NW_ERR_VERSION = -17,    /* the stored format or geometry is another one than this code's */
    NW_ERR_NOT_FOUND = -18,  /* no such object, key or image; a mount: no device of this kind,
                              * though the chip is not blank: nw_identify() tells what is there */
    NW_ERR_PINNED = -19,     /* every candidate is pinned: give more frames or unpin */
    NW_ERR_IO = -20,         /* the transport below failed (host file, bus) */
    NW_ERR_TYPE = -21,       /* the object is of a type that has no such operation */
    NW_ERR_EXISTS = -22,     /* an object of this name is there already */
    NW_ERR_NAME = -23,       /* a name that is empty or too long */
    NW_ERR_TAG = -24,        /* a stream-index is exhausted: it has no tag of this number */
    NW_ERR_KEY = -25,        /* sealed with another key, or sealed and none given, or not sealed */
    NW_ERR_TAMPERED = -26,   /* stored data is not what the holder of the key wrote there */
    NW_ERR_BLANK = -27,      /* nothing is written on the chip: format it */
    NW_ERR_BUSY = -28,       /* the part stays busy beyond its limit */
    NW_ERR_READ_ONLY = -29   /* a store to memory that may only be read */
};

/* One English phrase for an error, without a full stop; "unknown error" for any other number. */
const char *nw_error_text(int error);

#ifdef __cplusplus
}
#endif

#endif
