#include "checker.h"

#include <algorithm>

namespace simt {
namespace {

// Beyond that, what is over is thrown away between dispatches rather than used again.
constexpr size_t MOST_SHADOW_BYTES = size_t{256} << 20;

// Beyond that, threadgroups to come are taken to be ordered behind those before.
constexpr size_t MOST_HANDOVERS = size_t{1} << 22;

constexpr uint32_t FLAGS[] = {MSL_MEMORY_DEVICE, MSL_MEMORY_THREADGROUP};

// A vector of three is read as one of four: nobody need have written the fourth.
bool is_padding(size_t missing, size_t bytes) {
    return (bytes == 4 || bytes == 8 || bytes == 16) && missing == bytes / 4 * 3;
}

uintptr_t start_of(const msl_library *library) {
    size_t bytes;
    return reinterpret_cast<uintptr_t>(msl_library_image(library, &bytes));
}

// Whether it may be none, if the write changes nothing.
bool may_be_harmless(const Finding &race) {
    return race.access == MSL_ACCESS_WRITE && !is_atomic(race.access_before);
}

}  // namespace

void Checker::order() {
    oldest_ = group_ + 1;
    dispatches_.clear();
    sight_.forget();
    if (shadow_.bytes() > MOST_SHADOW_BYTES) shadow_.clear();
}

MemoryMap &Checker::begin_dispatch(const simt_launch &launch, const Stacks &stacks) {
    dispatches_.push_back({group_ + 1, launch, start_of(launch.library)});
    map_.clear();
    map_.add_buffers(launch);
    map_.add(MemoryKind::Stacks, stacks.memory(), stacks.bytes());
    stacks_ = &stacks;
    return map_;
}

void Checker::dispatch_mapped() {
    const auto &ranges = map_.ranges();
    const auto count = std::count_if(ranges.begin(), ranges.end(), [](const MemoryRange &range) {
        return range.is_threadgroup();
    });
    written_.resize(static_cast<size_t>(count));
}

void Checker::begin_threadgroup() {
    group_++;
    if (sight_.count() > MOST_HANDOVERS) {
        oldest_ = group_;
        sight_.forget();
    }
    sight_.begin_threadgroup(group_);
    same_value_.forget();
    std::fill_n(barriers_, MEMORIES, 0u);
    next_barrier_ = MSL_MEMORY_ALL;
    acting_ = false;
    for (auto &counts : simd_barriers_)
        std::fill_n(counts, MSL_MAX_THREADS, uint16_t{0});
    for (const MemoryRange &range : map_.ranges()) {
        if (range.is_threadgroup()) written_[range.number].reset(range.end - range.start);
    }
}

const Finding *Checker::end_threadgroup() {
    return same_value_.settle();
}

void Checker::fence(const Threadgroup &group, msl_fence scope, uint32_t memory) {
    if (scope == MSL_FENCE_THREADGROUP) {
        next_barrier_ = memory;
        return;
    }
    if (scope == MSL_FENCE_THREAD) {
        if (memory & MSL_MEMORY_DEVICE) sight_.fence(group.current);
        return;
    }
    for (int kind = 0; kind < MEMORIES; kind++) {
        if (memory & FLAGS[kind]) simd_barriers_[kind][group.current]++;
    }
}

void Checker::barrier_passed() {
    for (int kind = 0; kind < MEMORIES; kind++) {
        if (next_barrier_ & FLAGS[kind]) barriers_[kind]++;
    }
    sight_.barrier_passed(next_barrier_);
    next_barrier_ = MSL_MEMORY_ALL;
}

void Checker::lanes_met(const Threadgroup &group, uint32_t simdgroup, uint32_t lanes) {
    sight_.lanes_met(simdgroup, lanes, lanes == lanes_of(group, simdgroup));
}

Access Checker::access_of(const Threadgroup &group, Memory memory, const void *place) const {
    Access access;
    access.group = group_;
    access.barriers = barriers_[memory];
    access.thread = acting_ ? ALL_THREADS : static_cast<uint16_t>(group.current);
    access.simd_barriers = simd_barriers_[memory][group.current];
    access.time = sight_.time();
    access.place = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(place) - dispatch().library);
    return access;
}

const Finding *Checker::check_bounds(uintptr_t address, size_t bytes, const Access &now,
                                     msl_access kind, const MemoryRange *range) {
    const bool read_only = range != nullptr && is_write(kind) && range->is_read_only();
    if (range != nullptr && !read_only) return nullptr;
    finding_ = {};
    finding_.kind = read_only ? FindingKind::ReadOnly : FindingKind::OutOfBounds;
    finding_.access = kind;
    finding_.address = finding_.at = address;
    finding_.bytes = bytes;
    finding_.now = now;
    if (range == nullptr) range = map_.nearest(address);
    finding_.has_range = range != nullptr;
    if (range != nullptr) finding_.range = *range;
    return &finding_;
}

// What one thread does for all reaches into the stacks of all.
const Finding *Checker::check_stack(uintptr_t address, size_t bytes, const Access &now,
                                    msl_access kind, const void *frame) {
    if (acting_ || stacks_->in_use(reinterpret_cast<const void *>(address), frame)) return nullptr;
    finding_ = {};
    finding_.kind = FindingKind::OutOfStack;
    finding_.access = kind;
    finding_.address = finding_.at = address;
    finding_.bytes = bytes;
    finding_.now = now;
    return &finding_;
}

const Finding *Checker::check_written(const MemoryRange &range, uintptr_t address, size_t bytes,
                                      const Access &now) {
    const size_t missing = written_[range.number].first_missing(address - range.start, bytes);
    if (missing == bytes || is_padding(missing, bytes)) return nullptr;
    if (range.kind == MemoryKind::ThreadgroupVariable && range.name == nullptr) return nullptr;
    finding_ = {};
    finding_.kind = FindingKind::Unwritten;
    finding_.address = address;
    finding_.at = address + missing;
    finding_.bytes = bytes;
    finding_.now = now;
    finding_.has_range = true;
    finding_.range = range;
    return &finding_;
}

const Finding *Checker::check_races(const MemoryRange &range, uintptr_t address, size_t bytes,
                                    const Access &now, msl_access kind) {
    const uint32_t oldest = range.is_threadgroup() ? group_ : oldest_;
    const Finding *found = nullptr;
    const auto check = [&](Cell &cell, uintptr_t at) {
        AtomicAccesses *atomics = nullptr;
        if (is_atomic(kind) || cell.atomics != 0) atomics = &shadow_.atomics_of(cell);
        if (is_atomic(kind)) {
            const uint32_t last = atomics->handover;
            atomics->handover = sight_.meet(
                now.thread, range.is_threadgroup() ? sight_.own(last) : last, is_write(kind));
        }
        msl_access access_before = kind;
        const Access *other = cell.race(kind, now, atomics, oldest, order_, sight_, access_before);
        const Access before = other != nullptr ? *other : Access{};
        cell.add(kind, now, atomics, oldest, order_);
        // Of several, one that is wrong whatever the values are.
        if (other == nullptr || (found != nullptr && !may_be_harmless(*found))) return true;
        finding_ = {};
        finding_.kind = FindingKind::Race;
        finding_.access = kind;
        finding_.address = address;
        finding_.at = at;
        finding_.bytes = bytes;
        finding_.has_range = true;
        finding_.range = range;
        finding_.now = now;
        finding_.access_before = access_before;
        finding_.before = before;
        finding_.met = sight_.reaches(now.thread, before.group);
        found = &finding_;
        return true;
    };
    shadow_.visit(address, bytes, check);
    if (found == nullptr || strict_) return found;
    return may_be_harmless(*found) && same_value_.expect(*found) ? nullptr : found;
}

const Finding *Checker::access(const Threadgroup &group, const void *pointer, size_t bytes,
                               msl_access kind, const void *place) {
    if (const Finding *changed = same_value_.settle()) return changed;
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const MemoryRange *range = map_.find(address, bytes, is_write(kind));
    if (range != nullptr && range->kind == MemoryKind::Private) return nullptr;
    const bool threadgroup = range != nullptr && range->is_threadgroup();
    const Access now = access_of(group, threadgroup ? THREADGROUP : DEVICE, place);
    if (range != nullptr && range->kind == MemoryKind::Stacks)
        return check_stack(address, bytes, now, kind, __builtin_frame_address(0));
    if (const Finding *found = check_bounds(address, bytes, now, kind, range)) return found;
    if (threadgroup && (is_write(kind) || kind == MSL_ACCESS_INITIALISE)) {
        written_[range->number].add(address - range->start, bytes);
    } else if (threadgroup) {
        if (const Finding *found = check_written(*range, address, bytes, now)) return found;
    }
    if (kind == MSL_ACCESS_INITIALISE) return nullptr;
    return check_races(*range, address, bytes, now, kind);
}

const CheckedDispatch &Checker::dispatch_of(const Access &access) const {
    const auto after =
        std::upper_bound(dispatches_.begin(), dispatches_.end(), access.group,
                         [](uint32_t group, const CheckedDispatch &d) { return group < d.first; });
    return *std::prev(after);
}

}  // namespace simt
