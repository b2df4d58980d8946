# SPDX-License-Identifier: Apache-2.0
# Tool chain file: ATmega128 by Debian's gcc-avr.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR avr)
set(CMAKE_C_COMPILER avr-gcc)
set(CMAKE_C_FLAGS_INIT "-mmcu=atmega128 -ffreestanding")
set(CMAKE_C_FLAGS_RELEASE "-Os")
set(CMAKE_BUILD_TYPE Release CACHE STRING "")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
