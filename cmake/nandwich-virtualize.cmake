# SPDX-License-Identifier: Apache-2.0
# nandwich_virtualize(TARGET [FRAME bytes] [SLOTS number] [GUARDS inline|outline|hybrid]
#                     [DEVICE key=value...])
# Puts the C program TARGET into virtual memory, as `nandwich cc` would: its globals and its heap
# lie on an emulated flash chip, a few page frames of them in RAM. DEVICE chooses the chip and the
# RAM: the keys of docs/run.md. C alone, compiled by clang 19; the same choices for every target
# of one program.
#
# Installed, the run time lies in lib/nandwich; in the build tree of Nandwich itself where it is
# built.
if(TARGET nandwich-pass)
    set_property(GLOBAL PROPERTY NANDWICH_RUNTIME ${CMAKE_BINARY_DIR}/lib)
else()
    get_filename_component(nw_runtime "${CMAKE_CURRENT_LIST_DIR}/../../nandwich" ABSOLUTE)
    set_property(GLOBAL PROPERTY NANDWICH_RUNTIME ${nw_runtime})
endif()

function(nandwich_check_choice name value pattern allowed)
    if(NOT "${value}" STREQUAL "" AND NOT "${value}" MATCHES "${pattern}")
        message(FATAL_ERROR "nandwich_virtualize: ${name} ${value}: ${allowed}")
    endif()
endfunction()

function(nandwich_virtualize target)
    cmake_parse_arguments(arg "" "FRAME;SLOTS;GUARDS" "DEVICE" ${ARGN})
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "nandwich_virtualize: what is ${arg_UNPARSED_ARGUMENTS}?")
    endif()
    nandwich_check_choice(FRAME "${arg_FRAME}"
        "^(16|32|64|128|256|512|1024|2048|4096|8192|16384|32768)$"
        "a power of two from 16 to 32768")
    nandwich_check_choice(SLOTS "${arg_SLOTS}" "^([1-9]|[1-5][0-9]|6[0-4])$" "1 to 64")
    nandwich_check_choice(GUARDS "${arg_GUARDS}" "^(inline|outline|hybrid)$"
        "inline, outline or hybrid")
    if(NOT CMAKE_C_COMPILER_ID STREQUAL Clang OR NOT CMAKE_C_COMPILER_VERSION MATCHES "^19\\.")
        message(FATAL_ERROR "nandwich_virtualize: the pass is a plug-in of clang 19, and the C "
            "compiler is ${CMAKE_C_COMPILER}; configure with -DCMAKE_C_COMPILER=clang-19")
    endif()
    get_target_property(sources ${target} SOURCES)
    foreach(source ${sources})
        if(source MATCHES "\\.(cc|cp|cpp|cxx|c\\+\\+|C|ii)$")
            message(FATAL_ERROR "nandwich_virtualize: ${source}: C++ is not supported")
        endif()
    endforeach()
    nandwich_guards(${target} "${arg_FRAME}" "${arg_SLOTS}" "${arg_GUARDS}")
    nandwich_start(${target} "${arg_DEVICE}")
endfunction()

# How the sources are compiled. docs/compiler.md explains each flag.
function(nandwich_guards target frame slots guards)
    get_property(dir GLOBAL PROPERTY NANDWICH_RUNTIME)
    set(plugin ${dir}/nandwich-pass.so)
    set(options)
    foreach(key IN ITEMS frame slots guards)
        if(${key})
            list(APPEND options -nw-${key}=${${key}})
        endif()
    endforeach()
    list(TRANSFORM options PREPEND "SHELL:-mllvm ")
    target_compile_definitions(${target} PRIVATE __NANDWICH__=1)
    target_link_libraries(${target} PRIVATE nandwich::core)
    target_compile_options(${target} PRIVATE -fno-pic -fno-pie -fno-lto -fno-common
        -U_FORTIFY_SOURCE -gline-tables-only -gdwarf-4 -fplugin=${plugin} -fpass-plugin=${plugin}
        ${options} -Wno-unused-command-line-argument)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
endfunction()

# How it is linked: our start-up finds the device, then calls the program's main().
function(nandwich_start target device)
    get_property(dir GLOBAL PROPERTY NANDWICH_RUNTIME)
    if(device)
        list(SORT device)
        list(JOIN device "\\n" words)
        set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}-device.c)
        file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"extern const char nw_host_defaults[];\nconst char nw_host_defaults[] = \"@words@\";\n")
        add_library(${target}-device OBJECT ${source})
        target_link_libraries(${target} PRIVATE $<TARGET_OBJECTS:${target}-device>)
    endif()
    target_link_options(${target} PRIVATE -no-pie -fuse-ld=lld LINKER:-T,${dir}/host.ld)
    foreach(name execve execvpe _exit _Exit quick_exit main)
        target_link_options(${target} PRIVATE LINKER:--wrap=${name})
    endforeach()
    target_link_libraries(${target} PRIVATE
        -Wl,--whole-archive ${dir}/libnw_host.a -Wl,--no-whole-archive
        -Wl,--start-group ${dir}/libnw_guest.a ${dir}/libnw_stack.a ${dir}/libnw_vmtrace.a
        ${dir}/libnw_models.a ${dir}/libnw_twin.a $<TARGET_FILE:nandwich::core> -Wl,--end-group -lm)
    if(TARGET nandwich-pass)
        add_dependencies(${target} nandwich-pass nw_host)
    endif()
endfunction()
