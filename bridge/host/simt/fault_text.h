// The message of a fault while it is written.
#pragma once
#include "simt.h"

#include <cstdarg>
#include <cstdio>

namespace simt {

// Clips what does not fit.
class Text {
  public:
    Text(simt_fault &fault, const char *kernel) : fault_(fault) {
        add("kernel '%.*s': ", LONGEST_NAME, kernel);
    }

    __attribute__((format(printf, 2, 3))) void add(const char *format, ...) {
        va_list arguments;
        va_start(arguments, format);
        const size_t room = sizeof fault_.message - used_;
        const int length = vsnprintf(fault_.message + used_, room, format, arguments);
        va_end(arguments);
        if (length > 0) used_ += static_cast<size_t>(length) < room ? length : room - 1;
    }

  private:
    static constexpr int LONGEST_NAME = 128;

    simt_fault &fault_;
    size_t used_ = 0;
};

}  // namespace simt
