// Which memory a kernel may touch: whole accesses, argument by argument.
#include "check/memory_map.h"
#include "simt_support.h"

using namespace simt;

namespace {

constexpr uint32_t BYTES = 64;

struct Subject {
    unsigned char memory[4 * BYTES];
    msl_binding writable = {"out", 0, MSL_BINDING_BUFFER, 1, 1, 4, 4};
    msl_binding constant = {"in", 1, MSL_BINDING_BUFFER, 1, 0, 4, 4};
    MemoryMap map;

    uintptr_t at(size_t byte) const { return reinterpret_cast<uintptr_t>(memory) + byte; }
};

void an_access_is_found_only_whole() {
    Subject subject;
    subject.map.add(MemoryKind::Buffer, subject.memory, BYTES, &subject.writable);
    const MemoryRange *range = subject.map.find(subject.at(BYTES - 4), 4, true);
    CHECK(range != nullptr && range->binding == &subject.writable);
    CHECK(subject.map.find(subject.at(BYTES - 4), 5, false) == nullptr);
    CHECK(subject.map.find(subject.at(0) - 1, 1, false) == nullptr);
    CHECK(subject.map.find(subject.at(8), SIZE_MAX, false) == nullptr);
}

void a_write_finds_the_argument_that_may_be_written() {
    Subject subject;
    subject.map.add(MemoryKind::Buffer, subject.memory, BYTES, &subject.constant);
    CHECK(subject.map.find(subject.at(0), 4, true)->is_read_only());
    subject.map.add(MemoryKind::Buffer, subject.memory, BYTES, &subject.writable);
    CHECK(subject.map.find(subject.at(0), 4, false)->is_read_only());
    CHECK(!subject.map.find(subject.at(0), 4, true)->is_read_only());
}

void the_nearest_argument_is_named() {
    Subject subject;
    subject.map.add(MemoryKind::Buffer, subject.memory, BYTES, &subject.writable);
    subject.map.add(MemoryKind::Private, subject.memory + BYTES, BYTES);
    subject.map.add(MemoryKind::Buffer, subject.memory + 3 * BYTES, BYTES, &subject.constant);
    CHECK(subject.map.nearest(subject.at(BYTES + 8))->binding == &subject.writable);
    CHECK(subject.map.nearest(subject.at(3 * BYTES - 8))->binding == &subject.constant);
}

void nothing_is_named_that_is_far_away() {
    Subject subject;
    subject.map.add(MemoryKind::Buffer, subject.memory, BYTES, &subject.writable);
    CHECK(subject.map.nearest(subject.at(BYTES) + NEAR_BYTES) != nullptr);
    CHECK(subject.map.nearest(subject.at(BYTES) + NEAR_BYTES + 1) == nullptr);
    CHECK(subject.map.nearest(subject.at(0) - NEAR_BYTES - 1) == nullptr);
    subject.map.add(MemoryKind::Buffer, subject.memory, 3 * NEAR_BYTES, &subject.constant);
    CHECK(subject.map.nearest(subject.at(0) - 2 * NEAR_BYTES)->binding == &subject.constant);
}

void threadgroup_memory_is_numbered() {
    Subject subject;
    subject.map.add(MemoryKind::ThreadgroupArgument, subject.memory, BYTES, &subject.writable);
    subject.map.add(MemoryKind::Private, subject.memory + BYTES, BYTES);
    subject.map.add(MemoryKind::ThreadgroupVariable, subject.memory + 2 * BYTES, BYTES);
    CHECK_EQUAL(subject.map.find(subject.at(0), 4, true)->number, 0);
    CHECK_EQUAL(subject.map.find(subject.at(2 * BYTES), 4, true)->number, 1);
}

void memory_is_lent_until_other_memory_is() {
    Subject subject;
    subject.map.lend(subject.memory, BYTES);
    CHECK(subject.map.find(subject.at(0), 4, true) != nullptr);
    subject.map.lend(subject.memory + BYTES, BYTES);
    CHECK(subject.map.find(subject.at(0), 4, true) == nullptr);
    CHECK(subject.map.find(subject.at(BYTES), 4, true) != nullptr);
    subject.map.clear();
    CHECK(subject.map.find(subject.at(BYTES), 4, true) == nullptr);
    CHECK(subject.map.nearest(subject.at(BYTES)) == nullptr);
}

}  // namespace

int main() {
    an_access_is_found_only_whole();
    a_write_finds_the_argument_that_may_be_written();
    the_nearest_argument_is_named();
    nothing_is_named_that_is_far_away();
    threadgroup_memory_is_numbered();
    memory_is_lent_until_other_memory_is();
}
