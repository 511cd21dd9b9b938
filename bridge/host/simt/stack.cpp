#include "stack.h"

#include <cerrno>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace simt {
namespace {

constexpr size_t CACHE_LINE = 64;
// Tops a whole number of pages apart would share their cache sets, which doubles the cost of a
// barrier: each starts a few lines, of a number prime to their count, from the one before.
constexpr size_t COLOURS = 64;
constexpr size_t COLOUR_STEP = 5;

#ifndef MADV_GUARD_INSTALL  // Linux 6.13
#define MADV_GUARD_INSTALL 102
#endif

const size_t page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));

size_t round_up(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

// Between two stacks: several times what a private array can be, so that few wild indices lead
// across. Address space is all that it takes, but where guards are marked page by page, as below,
// the time to do so, which at this size is no more than that of the stacks.
constexpr size_t GUARD_BYTES = size_t{256} << 10;

size_t guard_bytes() {
    return round_up(GUARD_BYTES, page_bytes);
}

size_t stride() {
    return guard_bytes() + round_up(STACK_BYTES + COLOURS * CACHE_LINE, page_bytes);
}

bool readable(const char *page) {
    return access(page, F_OK) == 0 || errno != EFAULT;
}

// Guards that do not split the mapping come first: a process may have no more than 65,530 mappings.
// Emulators accept advice that they do not know, hence the look at what came of it.
bool install_guard(char *low) {
    if (madvise(low, guard_bytes(), MADV_GUARD_INSTALL) == 0 && !readable(low)) return true;
    return mprotect(low, guard_bytes(), PROT_NONE) == 0;
}

}  // namespace

Stacks::~Stacks() {
    discard();
}

void Stacks::discard() {
    for (uint32_t i = 0; i < count_; i++)
        sanitizer::destroy(annotations_[i]);
    if (bytes_ != 0) munmap(base_, bytes_);
    bytes_ = 0;
    count_ = 0;
}

char *Stacks::bottom(uint32_t i) const {
    return base_ + i * stride() + guard_bytes();
}

bool Stacks::reserve(uint32_t count, void (*main)()) {
    if (count <= count_) return true;
    discard();
    fibers_.reset(new (std::nothrow) Suspended[count]);
    annotations_.reset(new (std::nothrow) sanitizer::Stack[count]);
    if (!fibers_ || !annotations_) return false;
    const size_t stacks = count * stride();
    void *mapped = mmap(nullptr, stacks + guard_bytes(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapped == MAP_FAILED) return false;
    base_ = static_cast<char *>(mapped);
    bytes_ = stacks + guard_bytes();
    // Above the last stack, too: what lies there is the process's.
    if (!install_guard(base_ + stacks)) return false;
    for (; count_ < count; count_++) {
        char *low = bottom(count_);
        char *high = low + stride() - guard_bytes() - count_ * COLOUR_STEP % COLOURS * CACHE_LINE;
        if (!install_guard(low - guard_bytes())) return false;
        sanitizer::create(annotations_[count_], low, static_cast<size_t>(high - low));
        fibers_[count_] = fiber_create(high, main);
    }
    return true;
}

size_t Stacks::offset(const void *address) const {
    return reinterpret_cast<size_t>(address) - reinterpret_cast<size_t>(base_);
}

bool Stacks::guard(const void *address) const {
    return offset(address) < bytes_ && offset(address) % stride() < guard_bytes();
}

bool Stacks::in_use(const void *address, const void *frame) const {
    return address >= frame && offset(address) / stride() == offset(frame) / stride();
}

bool Stacks::exhausted(const void *stack_pointer) const {
    return offset(stack_pointer) < bytes_ &&
           offset(stack_pointer) % stride() < guard_bytes() + page_bytes;
}

}  // namespace simt
