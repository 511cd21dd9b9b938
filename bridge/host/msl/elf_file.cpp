#include "elf_file.h"

namespace msl {
namespace {

constexpr unsigned char NATIVE_ORDER =
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

bool read_section(const std::string &file, const Elf64_Ehdr &header, uint64_t i,
                  Elf64_Shdr &section) {
    return read_at(file, header.e_shoff + i * sizeof section, section);
}

}  // namespace

bool read_elf_header(const std::string &file, Elf64_Ehdr &header) {
    return read_at(file, 0, header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == NATIVE_ORDER;
}

std::string elf_name(const std::string &file, const Elf64_Shdr &names, uint64_t index) {
    const uint64_t offset = names.sh_offset + index;
    if (index >= names.sh_size || offset >= file.size()) return "";
    return std::string(file.data() + offset, strnlen(file.data() + offset, file.size() - offset));
}

std::string elf_section(const std::string &file, const std::string &name) {
    Elf64_Ehdr header;
    Elf64_Shdr names, section;
    if (!read_elf_header(file, header)) return "";
    if (!read_section(file, header, header.e_shstrndx, names)) return "";
    for (unsigned i = 0; i < header.e_shnum && read_section(file, header, i, section); i++) {
        if (section.sh_type == SHT_NOBITS || elf_name(file, names, section.sh_name) != name)
            continue;
        if (section.sh_offset > file.size()) return "";
        return file.substr(section.sh_offset, section.sh_size);
    }
    return "";
}

}  // namespace msl
