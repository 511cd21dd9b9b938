#include "interruption.h"

#include <chrono>

namespace msl {
namespace {

std::atomic<bool (*)()> interrupted{nullptr};
thread_local Interruption *current = nullptr;

}  // namespace

void set_interruption(bool (*asked)()) {
    interrupted = asked;
}

Interruption::Interruption() {
    share();
}

Interruption::~Interruption() {
    current = nullptr;
}

Interruption *Interruption::present() {
    return current;
}

void Interruption::share() {
    current = this;
}

bool Interruption::seen() {
    bool (*const asked)() = interrupted;
    const bool mine = std::this_thread::get_id() == owner_;
    if (!seen_ && mine && asked != nullptr && asked()) seen_ = true;
    return seen_;
}

void Interruption::wait_for(const std::future<void> &result) {
    const std::chrono::milliseconds pause(INTERRUPTION_MILLISECONDS);
    while (result.wait_for(pause) == std::future_status::timeout && !seen()) {
    }
}

}  // namespace msl
