// The byte code of DWARF 4 that makes a table of lines: one unit of a section .debug_line.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace msl {

// Takes numbers off the front of bytes. Past their end everything is 0, and `broken` tells.
class ByteReader {
  public:
    explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

    template <class T> T number() {
        T value = 0;
        const std::string_view bytes = take(sizeof value);
        if (!broken_) std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
    uint64_t unsigned_leb();
    int64_t signed_leb();
    std::string_view text();  // up to a byte 0
    std::string_view take(uint64_t count);

    bool at_end() const { return rest_.empty(); }
    bool broken() const { return broken_; }

  private:
    std::string_view rest_;
    bool broken_ = false;
};

struct LineRow {
    uint64_t address = 0;
    uint64_t file = 1;
    uint32_t line = 1;
    bool end_of_sequence = false;
};

class LineProgram {
  public:
    // Takes one unit off the front. False when there is none that can be read.
    bool open(ByteReader &section);
    // The next row of the table. False after the last one, or where the program is damaged.
    bool next(LineRow &row);
    std::string_view file(uint64_t number) const;

  private:
    bool read_header(ByteReader &header);
    // Whether the instruction has finished a row.
    bool step(LineRow &row);
    bool step_extended(LineRow &row);
    bool step_special(unsigned opcode, LineRow &row);

    ByteReader code_{{}};
    LineRow state_;
    std::vector<std::string_view> files_;
    std::vector<uint8_t> operands_;  // of each standard instruction
    uint8_t shortest_ = 1;           // instruction of the processor
    int8_t line_base_ = 0;
    uint8_t line_range_ = 1;
    uint8_t opcode_base_ = 1;
};

}  // namespace msl
