/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/error.h"

const char *nw_error_text(int error)
{
    switch (error) {
    case NW_OK: return "done";
    case NW_ERR_CONFIG: return "configuration contradicts itself or the part";
    case NW_ERR_RAM: return "not enough RAM given";
    case NW_ERR_RANGE: return "outside the device or object";
    case NW_ERR_ALIGN: return "not aligned to the unit of the part";
    case NW_ERR_UNSUPPORTED: return "not supported by the part or layer";
    case NW_ERR_BAD_BLOCK: return "bad block";
    case NW_ERR_PROGRAM: return "program failed";
    case NW_ERR_ERASE: return "erase failed, block worn out";
    case NW_ERR_ECC: return "uncorrectable bit errors";
    case NW_ERR_POWER: return "power lost";
    case NW_ERR_NOT_ERASED: return "programmed again without erase";
    case NW_ERR_PROGRAMS: return "page programmed more often than the part allows";
    case NW_ERR_ORDER: return "page programmed out of order";
    case NW_ERR_UNWRITTEN: return "read of a page never written";
    case NW_ERR_FULL: return "full";
    case NW_ERR_CORRUPT: return "stored data is corrupt";
    case NW_ERR_VERSION: return "stored format or geometry differs";
    case NW_ERR_NOT_FOUND: return "not found";
    case NW_ERR_PINNED: return "everything is pinned";
    case NW_ERR_IO: return "transport failed";
    case NW_ERR_TYPE: return "not possible with this type of object";
    case NW_ERR_EXISTS: return "exists already";
    case NW_ERR_NAME: return "name empty or too long";
    case NW_ERR_TAG: return "no tag of this number";
    case NW_ERR_KEY: return "sealed with another key, or none given";
    case NW_ERR_TAMPERED: return "stored data was tampered with";
    case NW_ERR_BLANK: return "nothing is written there";
    case NW_ERR_BUSY: return "the part stays busy beyond its limit";
    case NW_ERR_READ_ONLY: return "store to memory that may only be read";
    default: return "unknown error";
    }
}
