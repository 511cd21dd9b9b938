// Memory of an OS thread for the launches that it runs: kept, so that a launch allocates nothing.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <memory>

namespace native {

class Scratch {
  public:
    static Scratch &of_thread();

    // Room for arrays of so many bytes, in their order; what was there is gone. False: no memory.
    bool reserve(std::initializer_list<size_t> arrays);
    // The next array of them, aligned for every vector.
    template <class T> T *next() { return static_cast<T *>(take()); }

  private:
    struct Free {
        void operator()(unsigned char *bytes) const { std::free(bytes); }
    };
    void *take();

    std::unique_ptr<unsigned char, Free> memory_;
    size_t capacity_ = 0;
    static constexpr int MOST_ARRAYS = 8;
    size_t offsets_[MOST_ARRAYS];
    int next_ = 0;
};

}  // namespace native
