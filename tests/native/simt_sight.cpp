// What atomics hand over from thread to thread, with and without fences beside them.
#include "check/sight.h"
#include "simt_support.h"

using namespace simt;

namespace {

Access access_by(const Sight &sight, uint32_t group, uint16_t thread) {
    Access access;
    access.group = group;
    access.thread = thread;
    access.time = sight.time();
    return access;
}

void an_atomic_hands_over_its_own_thread() {
    Sight sight(false);
    sight.begin_threadgroup(1);
    const Access mine = access_by(sight, 1, 0), neighbour = access_by(sight, 1, 1);
    const uint32_t last = sight.meet(0, 0, true);
    const Access late = access_by(sight, 1, 0);
    sight.begin_threadgroup(2);
    CHECK(!sight.covers(0, mine));
    CHECK_EQUAL(sight.meet(0, last, false), last);
    CHECK(sight.covers(0, mine));
    CHECK(!sight.covers(0, neighbour));
    CHECK(sight.reaches(0, 1));
    CHECK(!sight.covers(0, late));
    CHECK(!sight.covers(1, mine));
}

void a_barrier_hands_over_the_threadgroup(uint32_t memory, bool expected) {
    Sight sight(true);
    sight.begin_threadgroup(1);
    const Access other = access_by(sight, 1, 40);
    sight.barrier_passed(memory);
    const Access late = access_by(sight, 1, 40);
    const uint32_t last = sight.meet(0, 0, true);
    sight.begin_threadgroup(2);
    sight.meet(0, last, true);
    CHECK(!sight.covers(0, other));
    sight.barrier_passed(MSL_MEMORY_DEVICE);
    CHECK_EQUAL(sight.covers(7, other), expected);
    CHECK(!sight.covers(7, late));
}

// The second threadgroup passes on what it received, not what came behind its own write.
void handovers_chain() {
    Sight sight(false);
    sight.begin_threadgroup(1);
    const Access first = access_by(sight, 1, 0);
    uint32_t last = sight.meet(0, 0, true);
    sight.begin_threadgroup(2);
    last = sight.meet(5, last, true);
    const Access late = access_by(sight, 2, 5);
    sight.begin_threadgroup(3);
    sight.meet(9, last, true);
    CHECK(sight.covers(9, first));
    CHECK(!sight.covers(9, late));
}

void where_strict_a_fence_hands_over_and_receives() {
    Sight sight(true);
    sight.begin_threadgroup(1);
    const Access fenced = access_by(sight, 1, 0);
    sight.fence(0);
    const Access unfenced = access_by(sight, 1, 0);
    const uint32_t last = sight.meet(0, 0, true);
    sight.begin_threadgroup(2);
    sight.meet(0, last, true);
    CHECK(!sight.covers(0, fenced));
    sight.barrier_passed(MSL_MEMORY_THREADGROUP);
    CHECK(!sight.covers(0, fenced));
    sight.fence(0);
    CHECK(sight.covers(0, fenced));
    CHECK(!sight.covers(0, unfenced));
    sight.barrier_passed(0);
    CHECK(!sight.covers(50, fenced));
    sight.barrier_passed(MSL_MEMORY_THREADGROUP);
    CHECK(sight.covers(50, fenced));
}

void lanes_pass_on_what_they_know_unless_strict(bool strict) {
    Sight sight(strict);
    sight.begin_threadgroup(1);
    const Access other = access_by(sight, 1, 3);
    sight.lanes_met(0, ~0u, true);
    const uint32_t last = sight.meet(0, 0, true);
    sight.begin_threadgroup(2);
    sight.meet(32, last, true);
    if (strict) sight.fence(32);
    CHECK_EQUAL(sight.covers(32, other), !strict);
    sight.lanes_met(1, 3, false);
    CHECK_EQUAL(sight.covers(33, other), !strict);
    CHECK(!sight.covers(34, other));
}

void what_is_forgotten_says_nothing() {
    Sight sight(false);
    sight.begin_threadgroup(1);
    const Access mine = access_by(sight, 1, 0);
    const uint32_t last = sight.meet(0, 0, true);
    CHECK_EQUAL(sight.own(last), last);
    sight.begin_threadgroup(2);
    CHECK_EQUAL(sight.own(last), 0);
    sight.forget();
    CHECK_EQUAL(sight.count(), 0);
    CHECK(sight.meet(0, last, true) > last);
    CHECK(!sight.covers(0, mine));
}

}  // namespace

int main() {
    an_atomic_hands_over_its_own_thread();
    a_barrier_hands_over_the_threadgroup(MSL_MEMORY_DEVICE, true);
    a_barrier_hands_over_the_threadgroup(MSL_MEMORY_THREADGROUP, false);
    handovers_chain();
    where_strict_a_fence_hands_over_and_receives();
    lanes_pass_on_what_they_know_unless_strict(false);
    lanes_pass_on_what_they_know_unless_strict(true);
    what_is_forgotten_says_nothing();
}
