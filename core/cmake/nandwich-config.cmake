# SPDX-License-Identifier: Apache-2.0
# What find_package(nandwich) reads. Components: core, and virtualize where the compiler pass was
# installed beside it.
include("${CMAKE_CURRENT_LIST_DIR}/nandwich-targets.cmake")
set(nandwich_core_FOUND TRUE)
include("${CMAKE_CURRENT_LIST_DIR}/nandwich-virtualize.cmake" OPTIONAL
    RESULT_VARIABLE nandwich_virtualize_FOUND)
foreach(component ${nandwich_FIND_COMPONENTS})
    if(nandwich_FIND_REQUIRED_${component} AND NOT nandwich_${component}_FOUND)
        set(nandwich_FOUND FALSE)
        set(nandwich_NOT_FOUND_MESSAGE "nandwich was installed without its component ${component}")
    endif()
endforeach()
