#include "elf_symbols.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace msl {
namespace {

// Copies out what lies at an offset: nothing in a damaged file may be trusted, alignment included.
template <class T> bool read_at(const std::string &file, uint64_t offset, T &value) {
    if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
    std::memcpy(&value, file.data() + offset, sizeof(T));
    return true;
}

std::string name_at(const std::string &file, const Elf64_Shdr &names, uint64_t index) {
    const uint64_t offset = names.sh_offset + index;
    if (index >= names.sh_size || offset >= file.size()) return "";
    return std::string(file.data() + offset, strnlen(file.data() + offset, file.size() - offset));
}

constexpr unsigned char NATIVE_ORDER =
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

bool read_header(const std::string &file, Elf64_Ehdr &header) {
    return read_at(file, 0, header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == NATIVE_ORDER;
}

}  // namespace

ElfSymbols::ElfSymbols(const std::string &file) {
    Elf64_Ehdr header;
    if (!read_header(file, header)) return;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        if (!read_at(file, header.e_phoff + i * sizeof segment, segment)) return;
        if (segment.p_type == PT_TLS) block_ = segment.p_memsz;
    }
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section, names;
        if (!read_at(file, header.e_shoff + i * sizeof section, section)) return;
        if (section.sh_type != SHT_SYMTAB) continue;
        if (!read_at(file, header.e_shoff + section.sh_link * sizeof names, names)) return;
        Elf64_Sym symbol;
        for (uint64_t at = 0; at + sizeof symbol <= section.sh_size; at += sizeof symbol) {
            if (!read_at(file, section.sh_offset + at, symbol)) return;
            const unsigned type = ELF64_ST_TYPE(symbol.st_info);
            if (symbol.st_shndx == SHN_UNDEF) {
                undefined_.push_back(name_at(file, names, symbol.st_name));
            } else if (type == STT_TLS) {
                variables_.push_back({name_at(file, names, symbol.st_name), symbol.st_size});
            } else if (type == STT_FUNC) {
                functions_[symbol.st_value] = name_at(file, names, symbol.st_name);
            }
        }
    }
}

uint32_t ElfSymbols::thread_local_bytes(uint64_t offset) const {
    const auto function = functions_.find(offset);
    // Variables of the function _Z<encoding> are named _ZZ<encoding>E<variable>.
    if (function == functions_.end() || function->second.compare(0, 2, "_Z") != 0) return 0;
    const std::string prefix = "_ZZ" + function->second.substr(2) + "E";
    uint64_t bytes = 0;
    for (const Variable &variable : variables_) {
        if (variable.name.compare(0, prefix.size(), prefix) == 0) bytes += variable.size;
    }
    return uint32_t(std::min<uint64_t>(bytes, UINT32_MAX));
}

}  // namespace msl
