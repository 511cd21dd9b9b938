#include "figures.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace bench {

double thread_seconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double Figures::least() const {
    return *std::min_element(seconds_.begin(), seconds_.end());
}

double Figures::median() const {
    std::vector<double> sorted(seconds_);
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
}

void fail(const std::string &what) {
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what.c_str());
    exit(1);
}

}  // namespace bench
