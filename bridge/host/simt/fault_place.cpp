#include "fault_place.h"
#include "fault_signal.h"

#include <unwind.h>

extern "C" _Unwind_Reason_Code simt_walk(const simt::MachineRegisters *at,
                                         _Unwind_Reason_Code (*visit)(_Unwind_Context *, void *),
                                         void *argument);

namespace simt {
namespace {

// Frames between the instruction and a function of the source. In a destroyed stack they may form a
// ring.
constexpr int MOST_FRAMES = 32;

struct Search {
    const msl_library *library;
    const MachineRegisters *at;
    msl_place *place;
    int frames = 0;
    bool found = false;
};

_Unwind_Reason_Code visit(_Unwind_Context *frame, void *argument) {
    auto &search = *static_cast<Search *>(argument);
    int exact = 0;
    const uintptr_t next = _Unwind_GetIPInfo(frame, &exact);
    // A return address may be that of the next line.
    const auto *address = reinterpret_cast<const char *>(next) - (exact ? 0 : 1);
    search.found = msl_library_place(search.library, address, search.place);
    return search.found || ++search.frames == MOST_FRAMES ? _URC_END_OF_STACK : _URC_NO_REASON;
}

void walk(void *argument) {
    simt_walk(static_cast<Search *>(argument)->at, visit, argument);
}

}  // namespace

bool fault_place(const msl_library *library, const MachineRegisters &at, msl_place &place) {
    Search search = {library, &at, &place};
    return fault_signal_guard(walk, &search) && search.found;
}

}  // namespace simt
