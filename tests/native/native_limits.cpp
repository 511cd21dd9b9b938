// What the CPU does at most: counted and read in full on every level.
#include "levels.h"
#include "native.h"
#include "simt_support.h"

#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

void multiply_adds_are_counted(const native::Level &level) {
    const double once = level.multiply_add(1);
    CHECK(once >= 2 * 4 * 8);  // of the narrowest vectors, as many as keep a processor busy
    CHECK(level.multiply_add(1000) == 1000 * once);
}

// As pages that nobody has touched are not resident, every page read is one that is.
void all_is_read_and_nothing_behind(const native::Level &level) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), pages = 8, used = 6;
    void *memory =
        mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && madvise(memory, pages * page, MADV_NOHUGEPAGE) == 0);
    level.read(memory, used * page);
    unsigned char resident[pages];
    CHECK(mincore(memory, pages * page, resident) == 0);
    for (size_t i = 0; i < pages; i++)
        CHECK_EQUAL(resident[i] & 1, i < used);
    munmap(memory, pages * page);
}

void rates_are_measured() {
    const std::vector<char> memory(1 << 16);
    for (uint32_t threads : {1u, 3u}) {
        CHECK(native_multiply_adds(threads) > 0);
        CHECK(native_read_rate(memory.data(), memory.size(), threads) > 0);
    }
}

void too_little_memory_has_no_rate() {
    const std::vector<char> memory(native::READ_UNIT);
    CHECK(native_read_rate(memory.data(), memory.size(), 2) == 0);
    CHECK(native_read_rate(memory.data(), memory.size() - 1, 1) == 0);
}

}  // namespace

int main() {
    for (const native::Level *level : native::levels()) {
        multiply_adds_are_counted(*level);
        all_is_read_and_nothing_behind(*level);
    }
    rates_are_measured();
    too_little_memory_has_no_rate();
}
