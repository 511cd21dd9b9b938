#include "line_table.h"

#include "line_program.h"

namespace msl {
namespace {

// A row is about the addresses up to the next one. Each function is a sequence of its own.
bool find_in(LineProgram &program, uint64_t address, LinePlace &place) {
    bool in_sequence = false;
    for (LineRow row, before, known; program.next(row); before = row) {
        if (in_sequence && before.address <= address && address < row.address) {
            place = {program.file(known.file), known.line, before.line != 0};
            return true;
        }
        if (!in_sequence || row.line != 0) known = row;
        in_sequence = !row.end_of_sequence;
    }
    return false;
}

}  // namespace

LinePlace LineTable::find(uint64_t address) const {
    ByteReader section(section_);
    LinePlace place;
    for (LineProgram program; program.open(section);)
        if (find_in(program, address, place)) break;
    return place;
}

}  // namespace msl
