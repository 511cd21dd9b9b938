#include "line_program.h"

#include <algorithm>

namespace msl {
namespace {

constexpr uint32_t WIDE_UNIT = 0xffffffff;  // announces 64-bit lengths: of sections above 4 GiB
constexpr uint16_t VERSION = 4;

// By the DWARF standard, version 4, section 6.2.5.
enum Standard : uint8_t {
    EXTENDED = 0,
    COPY,
    ADVANCE_ADDRESS,
    ADVANCE_LINE,
    SET_FILE,
    SET_COLUMN,
    NEGATE_STATEMENT,
    SET_BASIC_BLOCK,
    ADD_CONSTANT_ADDRESS,
    ADVANCE_FIXED_ADDRESS,
};
enum Extended : uint8_t { END_SEQUENCE = 1, SET_ADDRESS = 2 };

}  // namespace

std::string_view ByteReader::take(uint64_t count) {
    if (count > rest_.size()) {
        broken_ = true;
        count = rest_.size();
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
}

std::string_view ByteReader::text() {
    const size_t end = rest_.find('\0');
    const std::string_view taken = take(end);
    take(1);
    return taken;
}

uint64_t ByteReader::unsigned_leb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const auto byte = number<uint8_t>();
        if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
        if (!(byte & 0x80)) return value;
    }
}

int64_t ByteReader::signed_leb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const auto byte = number<uint8_t>();
        if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
        if (byte & 0x80) continue;
        if (byte & 0x40 && shift + 7 < 64) value |= ~uint64_t{0} << (shift + 7);
        return static_cast<int64_t>(value);
    }
}

bool LineProgram::open(ByteReader &section) {
    if (section.at_end()) return false;
    const auto length = section.number<uint32_t>();
    if (length == WIDE_UNIT) return false;
    ByteReader unit(section.take(length));
    const auto version = unit.number<uint16_t>();
    ByteReader header(unit.take(unit.number<uint32_t>()));
    code_ = unit;
    state_ = {};
    return version == VERSION && !section.broken() && !unit.broken() && read_header(header);
}

bool LineProgram::read_header(ByteReader &header) {
    shortest_ = header.number<uint8_t>();
    header.take(2);  // operations of an instruction: 1; whether rows begin statements
    line_base_ = header.number<int8_t>();
    line_range_ = header.number<uint8_t>();
    opcode_base_ = header.number<uint8_t>();
    if (header.broken() || line_range_ == 0 || opcode_base_ == 0) return false;
    operands_.assign(1, 0);
    while (operands_.size() < opcode_base_)
        operands_.push_back(header.number<uint8_t>());
    while (!header.text().empty()) {
    }  // folders
    files_.clear();
    for (std::string_view name; !(name = header.text()).empty();) {
        files_.push_back(name);
        header.unsigned_leb();  // folder
        header.unsigned_leb();  // time of change
        header.unsigned_leb();  // size
    }
    return !header.broken();
}

std::string_view LineProgram::file(uint64_t number) const {
    return number >= 1 && number <= files_.size() ? files_[number - 1] : std::string_view();
}

bool LineProgram::next(LineRow &row) {
    while (!code_.at_end() && !code_.broken())
        if (step(row)) return !code_.broken();
    return false;
}

bool LineProgram::step_special(unsigned opcode, LineRow &row) {
    const unsigned adjusted = opcode - opcode_base_;
    state_.address += uint64_t{adjusted / line_range_} * shortest_;
    state_.line += static_cast<uint32_t>(line_base_ + static_cast<int>(adjusted % line_range_));
    row = state_;
    return true;
}

bool LineProgram::step_extended(LineRow &row) {
    const uint64_t length = code_.unsigned_leb();
    ByteReader operand(code_.take(length));
    const auto opcode = operand.number<uint8_t>();
    if (opcode == SET_ADDRESS) state_.address = operand.number<uint64_t>();
    if (opcode != END_SEQUENCE) return false;
    row = state_;
    row.end_of_sequence = true;
    state_ = {};
    return true;
}

bool LineProgram::step(LineRow &row) {
    const auto opcode = code_.number<uint8_t>();
    if (opcode >= opcode_base_) return step_special(opcode, row);
    switch (opcode) {
    case EXTENDED:
        return step_extended(row);
    case COPY:
        row = state_;
        return true;
    case ADVANCE_ADDRESS:
        state_.address += code_.unsigned_leb() * shortest_;
        return false;
    case ADVANCE_LINE:
        state_.line += static_cast<uint32_t>(code_.signed_leb());
        return false;
    case SET_FILE:
        state_.file = code_.unsigned_leb();
        return false;
    case NEGATE_STATEMENT:
    case SET_BASIC_BLOCK:
        return false;
    case ADD_CONSTANT_ADDRESS:
        state_.address += uint64_t{(255u - opcode_base_) / line_range_} * shortest_;
        return false;
    case ADVANCE_FIXED_ADDRESS:
        state_.address += code_.number<uint16_t>();
        return false;
    default:
        for (unsigned i = 0; i < operands_[opcode]; i++)
            code_.unsigned_leb();
        return false;
    }
}

}  // namespace msl
