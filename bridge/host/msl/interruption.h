// Giving up a compilation in the middle, because who waits for it has been interrupted.
#pragma once
#include <atomic>
#include <future>
#include <thread>

namespace msl {

// Asked now and then, on the thread that waits; null: nothing interrupts.
void set_interruption(bool (*interrupted)());

// Of the compilation that this thread works on, and others for it.
class Interruption {
  public:
    Interruption();
    Interruption(const Interruption &) = delete;
    Interruption &operator=(const Interruption &) = delete;
    ~Interruption();

    // The calling thread's; null: none.
    static Interruption *present();
    // Makes it the calling thread's, too, which does nothing else from then on.
    void share();
    // Whether to give up.
    bool seen();
    // Returns when the result is there or nobody wants it any more.
    void wait_for(const std::future<void> &result);

  private:
    const std::thread::id owner_ = std::this_thread::get_id();
    std::atomic<bool> seen_{false};
};

// Waits look for it so often.
constexpr int INTERRUPTION_MILLISECONDS = 20;

}  // namespace msl
