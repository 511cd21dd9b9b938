#include "scratch.h"

namespace native {
namespace {

// Of a cache line, and of the widest vector.
constexpr size_t ALIGNMENT = 64;

}  // namespace

Scratch &Scratch::of_thread() {
    static thread_local Scratch scratch;
    return scratch;
}

bool Scratch::reserve(std::initializer_list<size_t> arrays) {
    size_t end = 0;
    int count = 0;
    for (size_t bytes : arrays) {
        offsets_[count++] = end;
        end += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    next_ = 0;
    if (end <= capacity_) return true;
    capacity_ = 0;
    memory_.reset(static_cast<unsigned char *>(std::aligned_alloc(ALIGNMENT, end)));
    if (!memory_) return false;
    capacity_ = end;
    return true;
}

void *Scratch::take() {
    return memory_.get() + offsets_[next_++];
}

}  // namespace native
