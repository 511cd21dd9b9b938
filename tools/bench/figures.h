// Times of one thing measured again and again: processor time of the thread, so that neighbours
// disturb less.
#pragma once
#include <string>
#include <vector>

namespace bench {

double thread_seconds();

class Figures {
  public:
    template <class F> void time(F run) {
        const double start = thread_seconds();
        run();
        seconds_.push_back(thread_seconds() - start);
    }
    double least() const;
    double median() const;

  private:
    std::vector<double> seconds_;
};

// Says what is wrong and ends the program.
[[noreturn]] void fail(const std::string &what);

}  // namespace bench
