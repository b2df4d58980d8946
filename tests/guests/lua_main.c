/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a Lua script with all standard libraries: lua_main SCRIPT.lua [ARGUMENT] */
#include <stdio.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

int main(int argc, char **argv)
{
    lua_State *state = luaL_newstate();
    int failed;

    if (state == NULL || argc < 2) {
        return 2;
    }
    luaL_openlibs(state);
    lua_pushstring(state, argc > 2 ? argv[2] : "");
    lua_setglobal(state, "argument");
    failed = luaL_dofile(state, argv[1]);
    if (failed) {
        fprintf(stderr, "%s\n", lua_tostring(state, -1));
    }
    lua_close(state);
    return failed ? 1 : 0;
}
