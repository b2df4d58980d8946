# SPDX-License-Identifier: Apache-2.0
# Tool chain file: RV32IMAC by Debian's gcc-riscv64-unknown-elf and picolibc.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv32)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_C_FLAGS_INIT
    "-march=rv32imac -mabi=ilp32 -misa-spec=2.2 --specs=picolibc.specs -ffreestanding")
set(CMAKE_C_FLAGS_RELEASE "-Os")
set(CMAKE_BUILD_TYPE Release CACHE STRING "")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
