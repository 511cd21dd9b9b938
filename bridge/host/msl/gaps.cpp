#include "gaps.h"

#include "elf_file.h"

namespace msl {
namespace {

// More than a row of most tiles.
constexpr uint64_t GAP_BYTES = 4096;

}  // namespace

void leave_gaps(std::string &object) {
    Elf64_Ehdr header;
    if (!read_elf_header(object, header)) return;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        const uint64_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
        Elf64_Shdr section;
        if (!read_at(object, at, section)) return;
        // The file has no content of it: its size is all there is to change.
        if (section.sh_type != SHT_NOBITS || !(section.sh_flags & SHF_TLS) || section.sh_size == 0)
            continue;
        section.sh_size += GAP_BYTES;
        std::memcpy(&object[at], &section, sizeof section);
    }
}

}  // namespace msl
