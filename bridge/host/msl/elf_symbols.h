// Reads the symbol table of a compiled library, to find the variables of its kernels.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace msl {

class ElfSymbols {
  public:
    // A thread-local one, by its mangled name.
    struct Variable {
        std::string name;
        uint64_t offset, size;
    };

    // Of the file's bytes; empty for anything but a well-formed 64-bit ELF file of this machine's
    // byte order.
    explicit ElfSymbols(const std::string &file);

    // Bytes of the thread-local variables local to the function at `offset` from the load address.
    uint32_t thread_local_bytes(uint64_t offset) const;
    // Names that the file uses and does not define.
    const std::vector<std::string> &undefined() const { return undefined_; }
    // Bytes of all thread-local variables together.
    size_t thread_local_block() const { return block_; }

    const std::vector<Variable> &variables() const { return variables_; }
    // Bytes that the file takes in memory.
    size_t memory() const { return memory_; }

  private:
    std::map<uint64_t, std::string> functions_;  // by address
    std::vector<Variable> variables_;
    std::vector<std::string> undefined_;
    size_t block_ = 0, memory_ = 0;
};

}  // namespace msl
