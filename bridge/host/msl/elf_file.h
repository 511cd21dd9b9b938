// Reads the parts of an ELF file. Nothing in a damaged file is trusted.
#pragma once
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>

namespace msl {

// Copies out what lies at an offset, alignment being no matter. False: the file ends before.
template <class T> bool read_at(const std::string &file, uint64_t offset, T &value) {
    if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
    std::memcpy(&value, file.data() + offset, sizeof(T));
    return true;
}

// False for anything but a 64-bit ELF file of this machine's byte order.
bool read_elf_header(const std::string &file, Elf64_Ehdr &header);

// The name at `index` of a section of names; empty where there is none.
std::string elf_name(const std::string &file, const Elf64_Shdr &names, uint64_t index);

// The content of the section of that name; empty where there is none.
std::string elf_section(const std::string &file, const std::string &name);

}  // namespace msl
