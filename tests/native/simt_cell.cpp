// The checks' memory of what was done to a few bytes: which later access is in a race with it.
#include "check/cell.h"
#include "simt_support.h"

using namespace simt;

namespace {

Access access_by(uint16_t thread, uint32_t barriers = 0, uint32_t group = 1) {
    Access access;
    access.group = group;
    access.thread = thread;
    access.barriers = barriers;
    return access;
}

// Cells of memory that no atomic has ordered.
struct Subject {
    bool is_race(msl_access kind, const Access &now) {
        return cell.race(kind, now, &atomics, oldest, order, sight, before) != nullptr;
    }
    void add(msl_access kind, const Access &now) { cell.add(kind, now, &atomics, oldest, order); }

    explicit Subject(bool strict = false) : order(strict), sight(strict) {}

    Cell cell;
    AtomicAccesses atomics;
    uint32_t oldest = 1;
    Order order;
    Sight sight;
    msl_access before = MSL_ACCESS_READ;
};

void a_write_is_open_to_other_simdgroups_until_a_barrier() {
    Subject subject;
    subject.add(MSL_ACCESS_WRITE, access_by(0));
    CHECK(!subject.is_race(MSL_ACCESS_READ, access_by(0)));
    CHECK(!subject.is_race(MSL_ACCESS_READ, access_by(31)));
    CHECK(subject.is_race(MSL_ACCESS_READ, access_by(32)));
    CHECK_EQUAL(subject.before, MSL_ACCESS_WRITE);
    CHECK(subject.is_race(MSL_ACCESS_ATOMIC_READ, access_by(32)));
    CHECK(subject.is_race(MSL_ACCESS_WRITE, access_by(ALL_THREADS)));
    CHECK(!subject.is_race(MSL_ACCESS_WRITE, access_by(32, 1)));
}

void lanes_are_in_lockstep_unless_strict() {
    Subject subject(true);
    subject.add(MSL_ACCESS_WRITE, access_by(0));
    CHECK(subject.is_race(MSL_ACCESS_READ, access_by(1)));
    Access behind = access_by(1);
    behind.simd_barriers = 1;
    CHECK(!subject.is_race(MSL_ACCESS_READ, behind));
}

// However many read it, and whichever of them writes.
void reads_are_open_to_writes() {
    Subject subject;
    for (uint16_t thread : {0, 32, 64})
        subject.add(MSL_ACCESS_READ, access_by(thread));
    CHECK(!subject.is_race(MSL_ACCESS_READ, access_by(96)));
    for (uint16_t thread : {0, 32, 64, 96})
        CHECK(subject.is_race(MSL_ACCESS_WRITE, access_by(thread)));
    CHECK_EQUAL(subject.before, MSL_ACCESS_READ);
    subject.add(MSL_ACCESS_READ, access_by(0, 1));
    CHECK(!subject.is_race(MSL_ACCESS_WRITE, access_by(0, 1)));
    CHECK(subject.is_race(MSL_ACCESS_WRITE, access_by(32, 1)));
}

void atomics_are_open_to_all_but_atomics() {
    Subject subject;
    subject.add(MSL_ACCESS_ATOMIC_READ, access_by(0));
    CHECK(!subject.is_race(MSL_ACCESS_ATOMIC_WRITE, access_by(32)));
    CHECK(!subject.is_race(MSL_ACCESS_READ, access_by(32)));
    CHECK(subject.is_race(MSL_ACCESS_WRITE, access_by(32)));
    CHECK_EQUAL(subject.before, MSL_ACCESS_ATOMIC_READ);
    subject.add(MSL_ACCESS_ATOMIC_WRITE, access_by(0));
    CHECK(subject.is_race(MSL_ACCESS_READ, access_by(32)));
    CHECK_EQUAL(subject.before, MSL_ACCESS_ATOMIC_WRITE);
}

void threadgroups_are_open_until_the_host_orders_them() {
    Subject subject;
    subject.add(MSL_ACCESS_READ, access_by(0, 5, 1));
    subject.add(MSL_ACCESS_READ, access_by(0, 5, 2));
    CHECK(subject.is_race(MSL_ACCESS_WRITE, access_by(0, 6, 2)));
    CHECK(subject.is_race(MSL_ACCESS_WRITE, access_by(0, 6, 3)));
    subject.oldest = 2;
    CHECK(!subject.is_race(MSL_ACCESS_WRITE, access_by(0, 6, 2)));
    CHECK(subject.is_race(MSL_ACCESS_WRITE, access_by(0, 6, 3)));
}

// The first threadgroup's is, which the others may not know of.
void atomics_order_what_they_cover() {
    Subject subject;
    subject.sight.begin_threadgroup(1);
    Access write = access_by(0, 0, 1);
    write.time = subject.sight.time();
    subject.add(MSL_ACCESS_WRITE, write);
    const uint32_t handover = subject.sight.meet(0, 0, true);
    subject.sight.begin_threadgroup(2);
    CHECK(subject.is_race(MSL_ACCESS_READ, access_by(0, 0, 2)));
    subject.sight.meet(0, handover, true);
    CHECK(!subject.is_race(MSL_ACCESS_READ, access_by(0, 0, 2)));
    CHECK(subject.is_race(MSL_ACCESS_READ, access_by(32, 0, 2)));
}

}  // namespace

int main() {
    a_write_is_open_to_other_simdgroups_until_a_barrier();
    lanes_are_in_lockstep_unless_strict();
    reads_are_open_to_writes();
    atomics_are_open_to_all_but_atomics();
    threadgroups_are_open_until_the_host_orders_them();
    atomics_order_what_they_cover();
}
