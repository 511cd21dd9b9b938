// A loaded kernel library.
#pragma once
#include "elf_symbols.h"
#include "line_table.h"
#include "listing.h"
#include "msl.h"

#include <atomic>
#include <string>
#include <vector>

struct msl_library {
  public:
    // Of a shared object's bytes, which no one can change any more, or of a list of kernels. Throws
    // Failure, also when it is no kernel library of this version.
    explicit msl_library(const std::string &bytes);
    msl_library(const msl_library &) = delete;
    msl_library &operator=(const msl_library &) = delete;
    ~msl_library();

    const msl_image &image() const { return *image_; }
    const msl_kernel *find(const char *name) const;
    uint32_t static_memory(const msl_kernel *kernel) const;
    void *threadgroup_block(size_t *bytes) const;
    const std::vector<msl_variable> &threadgroup_variables() const { return variables_; }
    msl::LinePlace line_of(const void *address) const;
    const void *memory(size_t *bytes) const;

    void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
    // Whether that was the last reference.
    bool release() { return references_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  private:
    void open(const std::string &bytes);
    void name_variables(const std::vector<msl::ElfSymbols::Variable> &variables);
    void measure_kernels(const std::string &bytes);
    uint64_t load_address() const;

    std::atomic<uint64_t> references_{1};
    msl::Listing listing_;
    void *handle_ = nullptr;  // null for a list of kernels
    const msl_image *image_ = nullptr;
    msl::LineTable lines_;
    std::vector<uint32_t> static_memory_;  // of each kernel
    std::vector<std::string> variable_names_;
    std::vector<msl_variable> variables_;
    size_t block_bytes_ = 0, memory_bytes_ = 0;
    size_t module_ = 0;  // the number under which the C library finds thread-local blocks
};
