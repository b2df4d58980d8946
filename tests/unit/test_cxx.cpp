// SPDX-License-Identifier: Apache-2.0
// The public headers in a C++ program: it compiles, it links, and a layer works. cxx_forward.cpp
// and cxx_backward.cpp beside it, made by the build, include every header there is.
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <csetjmp>
#include <cstring>
#include <vector>

extern "C" { // cmocka's header does not say so itself
#include <cmocka.h>
}

#include <nandwich-twin/nand.h>
#include <nandwich-twin/parts.h>
#include <nandwich/ftl_tree.h>
#include <nandwich/ram.h>
#include <nandwich/store.h>

namespace {

struct Twin {
    nw_nand *nand = nullptr;

    Twin()
    {
        nw_part part;
        nw_nand_config config = {};

        assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
        part.blocks = 64;
        config.part = &part;
        assert_int_equal(nw_nand_open(&nand, &config), NW_OK);
    }
    Twin(const Twin &) = delete;
    Twin &operator=(const Twin &) = delete;
    ~Twin() { nw_nand_close(nand); }
    nw_chip *chip() { return nw_nand_chip(nand); }
};

// Goal: a layer formatted by a C++ program is mounted by it and reads as written.
void test_tree_layer(void **)
{
    Twin twin;
    nw_ftl_tree_config config = {};
    nw_ftl_tree ftl;
    size_t bytes = nw_ftl_tree_ram_bytes(&config, &twin.chip()->geometry);
    std::vector<std::max_align_t> ram(bytes / sizeof(std::max_align_t) + 1);
    std::vector<std::uint8_t> sector(2048, 0x5A);
    nw_block_req req = {};

    assert_int_equal(nw_ftl_tree_format(&ftl, twin.chip(), &config, ram.data(), bytes), NW_OK);
    req.block = &ftl.block;
    req.sector = 7;
    req.count = 1;
    req.data = sector.data();
    assert_int_equal(nw_block_write(&req), NW_OK);
    assert_int_equal(nw_ftl_tree_mount(&ftl, twin.chip(), &config, ram.data(), bytes), NW_OK);
    std::memset(sector.data(), 0, sector.size());
    req.block = &ftl.block;
    assert_int_equal(nw_block_read(&req), NW_OK);
    assert_int_equal(sector[2047], 0x5A);
}

// Goal: what a header writes differently for C++ measures as C does.
void test_ram_take(void **)
{
    nw_ram ram = {};

    assert_null(NW_RAM_TAKE(&ram, std::uint8_t, 1));
    assert_null(NW_RAM_TAKE(&ram, std::uint32_t, 3));
    assert_int_equal(ram.used, 16);
    assert_string_equal(nw_error_text(NW_ERR_RAM), nw_error_text(-2));
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_layer),
        cmocka_unit_test(test_ram_take),
    };

    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
