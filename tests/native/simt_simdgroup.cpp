// SIMD-group operations join exactly the lanes that reach them together.
#include "simt_support.h"

#include <vector>

namespace {

struct Twelve {
    uint32_t part[3];
};

struct Sixteen {
    double part[2];
};

uint32_t lanes_below(uint32_t count) {
    return count * (count - 1) / 2;
}

// Runs a kernel that gives one number a thread, in each order.
template <class Expected>
void expect(TestPool &pool, Entry entry, uint32_t size, Expected expected) {
    for (simt_order order : ORDERS) {
        for (uint64_t seed = 1; seed <= (order == SIMT_RANDOM ? 5u : 1u); seed++) {
            std::vector<uint32_t> out(2 * size, 77);
            Launch launch(entry, 2 * size, size, {out.data()});
            launch.order = order;
            launch.seed = seed;
            pool.run(launch);
            for (uint32_t i = 0; i < out.size(); i++)
                CHECK_EQUAL(out[i], expected(i % size));
        }
    }
}

uint32_t &result(const msl_thread *thread) {
    return buffer<uint32_t>(thread, 0)[thread->thread_in_grid[0]];
}

void sum_indices(const msl_thread *thread) {
    result(thread) = simd_sum(site(1), thread->index);
}

void full_and_partial_simdgroups_add_up(TestPool &pool) {
    for (uint32_t size : {1u, 2u, 31u, 32u, 33u, 100u, 256u, 1000u, 1024u}) {
        expect(pool, sum_indices, size, [size](uint32_t i) {
            const uint32_t first = i / 32 * 32, end = first + 32 < size ? first + 32 : size;
            return lanes_below(end) - lanes_below(first);
        });
    }
}

void branches_on_one_line(const msl_thread *thread) {
    if (thread->lane < 8) {
        result(thread) = simd_sum(site(3, 10), thread->lane);
    } else if (thread->lane < 20) {
        result(thread) = simd_sum(site(3, 50), thread->lane);
    } else {
        result(thread) = simd_sum(site(2, 4), 1u);
    }
    result(thread) += 1000 * simd_sum(site(9), 1u);
}

void branches_join_apart_and_meet_again(TestPool &pool) {
    expect(pool, branches_on_one_line, 64, [](uint32_t i) {
        const uint32_t lane = i % 32;
        const uint32_t branch = lane < 8    ? lanes_below(8)
                                : lane < 20 ? lanes_below(20) - lanes_below(8)
                                            : 12;
        return branch + 32 * 1000;
    });
}

void loop_by_lane(const msl_thread *thread) {
    uint32_t sum = 0;
    for (uint32_t trip = 0; trip <= thread->lane; trip++)
        sum += simd_sum(site(5), 1u);
    result(thread) = sum;
}

void lanes_that_leave_a_loop_are_not_waited_for(TestPool &pool) {
    expect(pool, loop_by_lane, 96, [](uint32_t i) {
        uint32_t sum = 0;  // trip t is made by the lanes from t up
        for (uint32_t trip = 0; trip <= i % 32; trip++)
            sum += 32 - trip;
        return sum;
    });
}

void return_by_lane(const msl_thread *thread) {
    result(thread) = 0;
    if (thread->lane % 3 == 0) return;
    result(thread) = simd_sum(site(5), thread->lane);
    if (thread->lane % 3 == 1) return;
    result(thread) = simd_sum(site(6), thread->lane);
}

void lanes_that_return_take_no_part(TestPool &pool) {
    expect(pool, return_by_lane, 64, [](uint32_t i) {
        uint32_t others = 0, last = 0;
        for (uint32_t lane = 0; lane < 32; lane++) {
            if (lane % 3 != 0) others += lane;
            if (lane % 3 == 2) last += lane;
        }
        return i % 32 % 3 == 0 ? 0 : i % 32 % 3 == 1 ? others : last;
    });
}

template <class T> uint32_t shuffled_down(uint32_t at, T operand, uint32_t lane) {
    const msl_exchange *meeting = exchange(at, operand);
    T other;
    const uint32_t from = lane % 4 == 3 ? lane : lane + 1;
    memcpy(&other, meeting->op + from * sizeof other, sizeof other);
    uint32_t low = 0;
    memcpy(&low, &other, sizeof other < sizeof low ? sizeof other : sizeof low);
    return low;
}

// Eight runs of four lanes wait side by side, each in an operation of another width.
void widths(const msl_thread *thread) {
    const uint32_t lane = thread->lane;
    switch (lane / 4) {
    case 0:
        result(thread) = shuffled_down(site(8, 1), static_cast<uint8_t>(lane), lane);
        break;
    case 1:
        result(thread) = shuffled_down(site(8, 2), static_cast<uint16_t>(lane), lane);
        break;
    case 2:
        result(thread) = shuffled_down(site(8, 3), lane, lane);
        break;
    case 3:
        result(thread) = shuffled_down(site(8, 4), uint64_t{lane} << 32 | lane, lane);
        break;
    case 4:
        result(thread) = shuffled_down(site(8, 5), Twelve{{lane, 1, 2}}, lane);
        break;
    case 5:
        result(thread) = static_cast<uint32_t>(lane % 4 == 3 ? lane : lane + 1);
        exchange(site(8, 6), Sixteen{{double(lane), 0}});
        break;
    default:  // one site, as in a function that is called with two types
        result(thread) = lane % 2 == 0 ? simd_sum(site(8, 7), lane)
                                       : uint32_t(simd_sum(site(8, 7), uint64_t{lane}));
    }
}

void operands_of_different_widths_stay_apart(TestPool &pool) {
    expect(pool, widths, 32, [](uint32_t i) {
        if (i < 24) return i % 4 == 3 ? i : i + 1;
        return i % 2 == 0 ? 24u + 26 + 28 + 30 : 25u + 27 + 29 + 31;
    });
}

void beside_a_barrier(const msl_thread *thread) {
    uint32_t sum = 0;
    if (thread->lane < 5) sum = simd_sum(site(4), 1u);
    simt_runtime.barrier(site(5));
    result(thread) = 100 * sum + simd_sum(site(4), 1u);
}

void lanes_at_a_barrier_take_no_part(TestPool &pool) {
    expect(pool, beside_a_barrier, 64, [](uint32_t i) { return i % 32 < 5 ? 532u : 32u; });
}

}  // namespace

int main() {
    TestPool pool(2);
    full_and_partial_simdgroups_add_up(pool);
    branches_join_apart_and_meet_again(pool);
    lanes_that_leave_a_loop_are_not_waited_for(pool);
    lanes_that_return_take_no_part(pool);
    operands_of_different_widths_stay_apart(pool);
    lanes_at_a_barrier_take_no_part(pool);
}
