# SPDX-License-Identifier: Apache-2.0
# What every target of ours shares: warnings as errors, sanitizers, and a library helper that
# accepts a folder nobody has filled yet.

add_library(nw_warnings INTERFACE)
target_compile_options(nw_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>)

if(NW_SANITIZE)
    add_compile_options(-fsanitize=${NW_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${NW_SANITIZE})
endif()

# nw_library(NAME SOURCES file... INCLUDES dir... DEPENDS target...)
# A static library under our warnings; with no sources yet it is an interface that only carries
# headers.
function(nw_library name)
    cmake_parse_arguments(arg "" "" "SOURCES;INCLUDES;DEPENDS" ${ARGN})
    if(arg_SOURCES)
        add_library(${name} STATIC ${arg_SOURCES})
        target_link_libraries(${name} PRIVATE nw_warnings PUBLIC ${arg_DEPENDS})
        target_include_directories(${name} PUBLIC ${arg_INCLUDES})
        set_target_properties(${name} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
    else()
        add_library(${name} INTERFACE)
        target_link_libraries(${name} INTERFACE ${arg_DEPENDS})
        target_include_directories(${name} INTERFACE ${arg_INCLUDES})
    endif()
endfunction()
