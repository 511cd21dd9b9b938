// Which line of the source a compiled instruction belongs to.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace msl {

struct LinePlace {
    std::string_view file;  // as `#line` names it; lives as long as the table
    uint32_t line = 0;      // 0: not known
    bool exact = false;     // else of code before it in the function: the optimiser keeps no line
                            // of instructions that it moves far or makes one of
};

class LineTable {
  public:
    LineTable() = default;
    // Of the section .debug_line (DWARF 4) of a linked library. What is wrong in it, or of another
    // version, reads as "not known".
    explicit LineTable(std::string section) : section_(std::move(section)) {}

    // `address`: from the library's load address. Reads the whole table each time.
    LinePlace find(uint64_t address) const;

  private:
    std::string section_;
};

}  // namespace msl
