// The shadow of memory: cells as fine as the accesses ask for, over pages.
#include "check/shadow.h"
#include "simt_support.h"

#include <algorithm>
#include <vector>

using namespace simt;

namespace {

constexpr uintptr_t PAGE = 1 << 20;

std::vector<uintptr_t> visited(Shadow &shadow, uintptr_t address, size_t bytes) {
    std::vector<uintptr_t> addresses;
    shadow.visit(address, bytes, [&](Cell &, uintptr_t at) {
        addresses.push_back(at);
        return true;
    });
    return addresses;
}

void cells_become_finer_with_what_touches_them() {
    Shadow shadow;
    CHECK(visited(shadow, PAGE, 32) == (std::vector<uintptr_t>{PAGE, PAGE + 16}));
    CHECK(visited(shadow, PAGE + 8, 8) == std::vector<uintptr_t>{PAGE + 8});
    CHECK_EQUAL(visited(shadow, PAGE, 32).size(), 4);
    CHECK(visited(shadow, PAGE + 3, 2) == (std::vector<uintptr_t>{PAGE + 3, PAGE + 4}));
    CHECK_EQUAL(visited(shadow, PAGE, 32).size(), 32);
}

void an_access_may_cross_pages() {
    Shadow shadow;
    const uintptr_t end = PAGE + 4096;
    CHECK(visited(shadow, end - 4, 8) == (std::vector<uintptr_t>{end - 4, end}));
    CHECK_EQUAL(visited(shadow, PAGE, 8192).size(), 2048);
}

// What is known of bytes stays known of each part, and of each on its own from then on.
void finer_cells_have_copies_of_atomics() {
    Shadow shadow;
    shadow.visit(PAGE, 16, [&](Cell &cell, uintptr_t) {
        shadow.atomics_of(cell).handover = 7;
        return true;
    });
    shadow.visit(PAGE + 4, 4, [&](Cell &cell, uintptr_t) {
        CHECK_EQUAL(shadow.atomics_of(cell).handover, 7);
        shadow.atomics_of(cell).handover = 8;
        return true;
    });
    std::vector<uint32_t> handovers;
    shadow.visit(PAGE, 16, [&](Cell &cell, uintptr_t) {
        handovers.push_back(shadow.atomics_of(cell).handover);
        return true;
    });
    CHECK(handovers == (std::vector<uint32_t>{7, 8, 7, 7}));
}

void a_visit_ends_when_told() {
    Shadow shadow;
    int count = 0;
    shadow.visit(PAGE, 64, [&](Cell &, uintptr_t) { return ++count < 2; });
    CHECK_EQUAL(count, 2);
}

void clearing_forgets() {
    Shadow shadow;
    shadow.visit(PAGE, 16, [&](Cell &cell, uintptr_t) {
        shadow.atomics_of(cell);
        return true;
    });
    CHECK(shadow.bytes() > 0);
    shadow.clear();
    CHECK_EQUAL(shadow.bytes(), 0);
    shadow.visit(PAGE, 16, [&](Cell &cell, uintptr_t) {
        CHECK_EQUAL(cell.atomics, 0);
        return true;
    });
}

}  // namespace

int main() {
    cells_become_finer_with_what_touches_them();
    an_access_may_cross_pages();
    finer_cells_have_copies_of_atomics();
    a_visit_ends_when_told();
    clearing_forgets();
}
