// What one caller has to do, in pieces that other threads can take off it.
#pragma once
#include <condition_variable>
#include <cstdint>

namespace simt {

class Work {
  public:
    Work() = default;
    Work(const Work &) = delete;
    Work &operator=(const Work &) = delete;

    // Whether somebody who comes now still finds a piece.
    virtual bool open() const = 0;
    // Does pieces until none is left, beside others who do the same.
    virtual void run() = 0;

  protected:
    ~Work() = default;

  private:
    friend class Pool;
    uint32_t helpers_ = 0;  // pool threads at work on it; under the pool's lock
    std::condition_variable unattended_;
};

}  // namespace simt
