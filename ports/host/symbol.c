/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
    const uint8_t *bytes;
    size_t size;
};

/* A table of `count` items of `item_bytes` at `offset`, or NULL where it leaves the file. */
static const void *part(const struct image *image, uint64_t offset, uint64_t count,
                        size_t item_bytes)
{
    if (offset > image->size || count > (image->size - offset) / item_bytes) {
        return NULL;
    }
    return image->bytes + offset;
}

static int copy_name(const struct image *image, const Elf64_Shdr *strings, uint32_t at, char *name,
                     size_t name_bytes)
{
    const char *text = part(image, strings->sh_offset, strings->sh_size, 1);
    size_t length = 0;

    if (text == NULL || at >= strings->sh_size) {
        return 0;
    }
    text += at;
    while (length + 1 < name_bytes && at + length < strings->sh_size && text[length] != '\0') {
        name[length] = text[length];
        length++;
    }
    name[length] = '\0';
    return length > 0;
}

static int find(const struct image *image, uintptr_t address, char *name, size_t name_bytes)
{
    const Elf64_Ehdr *header = part(image, 0, 1, sizeof *header);
    const Elf64_Shdr *sections;

    if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_type != ET_EXEC) {
        return 0;
    }
    sections = part(image, header->e_shoff, header->e_shnum, sizeof *sections);
    for (uint32_t i = 0; sections != NULL && i < header->e_shnum; i++) {
        uint64_t count = sections[i].sh_size / sizeof(Elf64_Sym);
        const Elf64_Sym *symbols = part(image, sections[i].sh_offset, count, sizeof *symbols);

        if (sections[i].sh_type != SHT_SYMTAB || symbols == NULL ||
            sections[i].sh_link >= header->e_shnum) {
            continue;
        }
        for (uint64_t k = 0; k < count; k++) {
            if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC &&
                address - symbols[k].st_value < symbols[k].st_size) {
                return copy_name(image, &sections[sections[i].sh_link], symbols[k].st_name, name,
                                 name_bytes);
            }
        }
    }
    return 0;
}

int nw_host_symbol(uintptr_t address, char *name, size_t name_bytes)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat status;
    struct image image;
    void *bytes;
    int found;

    if (file < 0) {
        return 0;
    }
    if (fstat(file, &status) != 0 || status.st_size <= 0) {
        close(file);
        return 0;
    }
    image.size = (size_t)status.st_size;
    bytes = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) {
        return 0;
    }
    image.bytes = bytes;
    found = find(&image, address, name, name_bytes);
    munmap(bytes, image.size);
    return found;
}
