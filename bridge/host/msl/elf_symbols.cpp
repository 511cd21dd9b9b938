#include "elf_symbols.h"

#include "elf_file.h"

#include <algorithm>

namespace msl {

ElfSymbols::ElfSymbols(const std::string &file) {
    Elf64_Ehdr header;
    if (!read_elf_header(file, header)) return;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        if (!read_at(file, header.e_phoff + i * sizeof segment, segment)) return;
        if (segment.p_type == PT_TLS) block_ = segment.p_memsz;
        if (segment.p_type == PT_LOAD)
            memory_ = std::max<size_t>(memory_, segment.p_vaddr + segment.p_memsz);
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
                undefined_.push_back(elf_name(file, names, symbol.st_name));
            } else if (type == STT_TLS) {
                variables_.push_back(
                    {elf_name(file, names, symbol.st_name), symbol.st_value, symbol.st_size});
            } else if (type == STT_FUNC) {
                functions_[symbol.st_value] = elf_name(file, names, symbol.st_name);
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
