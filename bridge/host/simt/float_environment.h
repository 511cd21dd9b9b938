// The floating-point environment of kernels: rounding to nearest, no traps, denormals kept (as in
// the reference; Metal leaves them to the GPU). The caller's is put back, with its sticky flags.
#pragma once
#include <cfenv>

namespace simt {

class FloatEnvironment {
  public:
    FloatEnvironment() {
        fegetenv(&callers_);
        fesetenv(FE_DFL_ENV);
    }
    FloatEnvironment(const FloatEnvironment &) = delete;
    FloatEnvironment &operator=(const FloatEnvironment &) = delete;
    ~FloatEnvironment() { fesetenv(&callers_); }

  private:
    fenv_t callers_;
};

}  // namespace simt
