# SPDX-License-Identifier: Apache-2.0
# Tool chain file: Cortex-M3 by Debian's gcc-arm-none-eabi. Copy it for another Cortex-M.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m3 -mthumb -ffreestanding")
set(CMAKE_C_FLAGS_RELEASE "-Os")
set(CMAKE_BUILD_TYPE Release CACHE STRING "")
# There is no start-up code to link a test program with.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
