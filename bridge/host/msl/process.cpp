#include "process.h"

#include "failure.h"
#include "file_descriptor.h"
#include "interruption.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace msl {
namespace {

[[noreturn]] void fail(const std::string &program, int error) {
    throw Failure{MSL_FAILURE_IO, "cannot run " + program + ": " + std::strerror(error)};
}

// Only what a compiler needs: CPATH, CCC_OVERRIDE_OPTIONS and their kind would change its output
// behind the cache's back. Messages stay English.
std::vector<std::string> clean_environment() {
    std::vector<std::string> environment = {"LC_ALL=C"};
    for (const char *name : {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"}) {
        if (const char *value = std::getenv(name)) {
            environment.push_back(std::string(name) + "=" + value);
        }
    }
    return environment;
}

std::vector<char *> pointers(const std::vector<std::string> &texts) {
    std::vector<char *> result;
    for (const std::string &text : texts)
        result.push_back(const_cast<char *>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

// A thread may have blocked signals, and Python ignores SIGPIPE: the program starts with neither.
class SpawnAttributes {
  public:
    SpawnAttributes() {
        posix_spawnattr_init(&attributes_);
        sigset_t none, defaults;
        sigemptyset(&none);
        sigemptyset(&defaults);
        sigaddset(&defaults, SIGPIPE);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setsigdefault(&attributes_, &defaults);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
    const posix_spawnattr_t *get() const { return &attributes_; }

  private:
    posix_spawnattr_t attributes_;
};

class SpawnActions {
  public:
    SpawnActions() { posix_spawn_file_actions_init(&actions_); }
    ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
    void connect(const FileDescriptor &from, int to) {
        posix_spawn_file_actions_adddup2(&actions_, from.get(), to);
    }
    const posix_spawn_file_actions_t *get() const { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_;
};

// False: nobody wants the result any more. Where the system has no descriptor left, that is not
// looked for.
bool is_awaited(pid_t child) {
    Interruption *interruption = Interruption::present();
    if (interruption == nullptr) return true;
    const FileDescriptor handle(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
    pollfd end = {handle.get(), POLLIN, 0};
    while (handle && poll(&end, 1, INTERRUPTION_MILLISECONDS) <= 0) {
        if (interruption->seen()) return false;
    }
    return true;
}

// The status is lost where the host process ignores SIGCHLD; output and errors then have to do.
bool wait_for(pid_t child, int &status) {
    const bool awaited = is_awaited(child);
    if (!awaited) kill(child, SIGKILL);
    int code = 0;
    while (waitpid(child, &code, 0) < 0) {
        if (errno != EINTR) return false;
    }
    if (!awaited) throw Failure{MSL_FAILURE_IO, "the compiler was interrupted"};
    status = WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
    return true;
}

}  // namespace

Finished run_program(const std::vector<std::string> &command, const std::string &input) {
    // Files in memory instead of pipes: nobody can wait for a reader that waits for him.
    const FileDescriptor in = FileDescriptor::in_memory("input");
    const FileDescriptor out = FileDescriptor::in_memory("output");
    const FileDescriptor errors = FileDescriptor::in_memory("errors");
    if (!in || !out || !errors || !in.write_all(input) || lseek(in.get(), 0, SEEK_SET) != 0) {
        fail(command[0], errno);
    }
    SpawnActions actions;
    actions.connect(in, STDIN_FILENO);
    actions.connect(out, STDOUT_FILENO);
    actions.connect(errors, STDERR_FILENO);
    const SpawnAttributes attributes;
    const std::vector<std::string> environment = clean_environment();
    pid_t child;
    const int error = posix_spawnp(&child, command[0].c_str(), actions.get(), attributes.get(),
                                   pointers(command).data(), pointers(environment).data());
    if (error) fail(command[0], error);
    Finished finished;
    const bool known = wait_for(child, finished.status);
    if (!out.read_all(finished.output) || !errors.read_all(finished.errors)) {
        fail(command[0], errno);
    }
    if (!known) finished.status = finished.errors.empty() ? 0 : 1;
    return finished;
}

}  // namespace msl
