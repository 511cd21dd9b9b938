// The stacks of one worker's fibers: one mapping, a guard under each and above the last.
#pragma once
#include "fiber.h"
#include "sanitizer.h"
#include <cstdint>
#include <memory>

namespace simt {

class Stacks {
  public:
    Stacks() = default;
    Stacks(const Stacks &) = delete;
    Stacks &operator=(const Stacks &) = delete;
    ~Stacks();

    // Makes at least `count` stacks, each with a fiber on it that will call `main`. False: no
    // memory.
    bool reserve(uint32_t count, void (*main)());
    void discard();

    // The fibers, not yet started.
    const Suspended *fibers() const { return fibers_.get(); }
    const sanitizer::Stack *annotations() const { return annotations_.get(); }
    // Whether `address` is in no stack, but beside one.
    bool guard(const void *address) const;
    // Whether what lies at `address` can be a variable of the fiber whose innermost frame is at
    // `frame`: on the same stack, and not below.
    bool in_use(const void *address, const void *frame) const;
    // Whether a fiber has no page of its stack left.
    bool exhausted(const void *stack_pointer) const;
    const void *memory() const { return base_; }
    size_t bytes() const { return bytes_; }

  private:
    char *bottom(uint32_t i) const;
    size_t offset(const void *address) const;

    char *base_ = nullptr;
    size_t bytes_ = 0;
    uint32_t count_ = 0;
    std::unique_ptr<Suspended[]> fibers_;
    std::unique_ptr<sanitizer::Stack[]> annotations_;
};

// Bytes that a kernel's private variables and calls may take in each thread.
constexpr size_t STACK_BYTES = 64 * 1024;

}  // namespace simt
