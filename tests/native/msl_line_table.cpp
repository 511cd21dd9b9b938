// The line of an instruction, read from the table that the compiler leaves: right where it is
// whole, and never a wild read where it is not.
#include "msl_test.h"

#include "elf_file.h"
#include "line_table.h"

#include <cstdint>

namespace {

// A unit in DWARF 4: own.h has code of line 7 at 16, of no line at 20, of line 9 at 24 and ends at
// 32; program_source has code of line 3 at 4096 and ends at 4100.
constexpr unsigned char UNIT[] = {
    0,   0,   0,   0,   4,   0,   47,  0,   0,   0,                        // lengths, version
    1,   1,   1,   251, 14,  13,  0,   1,   1,   1,   1,                   // -5 to 8 lines a step
    0,   0,   0,   1,   0,   0,   1,   0,                                  // operands, no folders
    'p', 'r', 'o', 'g', 'r', 'a', 'm', '_', 's', 'o', 'u', 'r', 'c', 'e',  // file 1
    0,   0,   0,   0,   'o', 'w', 'n', '.', 'h', 0,   0,   0,   0,   0,    // file 2
    0,   9,   2,   16,  0,   0,   0,   0,   0,   0,   0,   4,   2,         // at 16, own.h
    3,   6,   1,   2,   4,   3,   121, 1,   3,   8,   75,  2,   8,   0,    // 7, none, 9
    1,   1,                                                                // the end
    0,   9,   2,   0,   16,  0,   0,   0,   0,   0,   0,   3,   2,   1,    // at 4096: 3
    2,   4,   0,   1,   1};

std::string unit() {
    std::string bytes(reinterpret_cast<const char *>(UNIT), sizeof UNIT);
    bytes[0] = char(bytes.size() - 4);
    return bytes;
}

void check(const msl::LinePlace &place, const char *file, uint32_t line, bool exact) {
    CHECK_TEXT(place.file, file);
    CHECK(place.line == line && place.exact == exact);
}

void finds_lines(const std::string &section) {
    const msl::LineTable table(section);
    check(table.find(16), "own.h", 7, true);
    check(table.find(19), "own.h", 7, true);
    check(table.find(20), "own.h", 7, false);
    check(table.find(24), "own.h", 9, true);
    check(table.find(31), "own.h", 9, true);
    check(table.find(4096), "program_source", 3, true);
    for (uint64_t outside : {0, 15, 32, 4095, 4100})
        CHECK(table.find(outside).line == 0);
    CHECK(msl::LineTable().find(16).line == 0);
}

void finds_lines_in_a_later_unit() {
    std::string other = unit();
    other[4] = 5;  // a version that is not ours to read
    CHECK(msl::LineTable(other).find(16).line == 0);
    std::string empty("\x16\0\0\0\4\0\x10\0\0\0\1\1\1\xfb\x0e\1\0\0\0\0\0\0\0\0\0\0", 26);
    finds_lines(empty + unit());
}

// Whatever it finds, it ends: the sanitizers watch where it reads.
void survives(const std::string &section) {
    for (uint64_t address : {16, 20, 4096})
        (void)msl::LineTable(section).find(address);
}

void damage_reads_as_not_known() {
    for (size_t length = 0; length < unit().size(); length++) {
        const std::string part = unit().substr(0, length);
        CHECK(msl::LineTable(part).find(4096).line == 0);
        survives(part);
    }
    for (size_t at = 0; at < unit().size(); at++) {
        for (int value = 0; value < 256; value++) {
            std::string damaged = unit();
            damaged[at] = char(value);
            survives(damaged);
        }
    }
}

void a_damaged_file_has_no_section() {
    const std::string file = read_file("/proc/self/exe");
    CHECK(!msl::elf_section(file, ".text").empty() && msl::elf_section(file, ".none").empty());
    for (size_t length : {size_t(0), size_t(10), sizeof(Elf64_Ehdr), file.size() / 2})
        CHECK(msl::elf_section(file.substr(0, length), ".text").empty());
    for (size_t at = 0; at < sizeof(Elf64_Ehdr); at++) {
        std::string damaged = file;
        damaged[at] = char(0xff);
        (void)msl::elf_section(damaged, ".text");
    }
}

}  // namespace

int main() {
    finds_lines(unit());
    finds_lines_in_a_later_unit();
    damage_reads_as_not_known();
    a_damaged_file_has_no_section();
}
