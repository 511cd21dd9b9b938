// Running other programs: streams of any length, statuses, signals, and nothing of our environment.
#include "process.h"

#include "failure.h"
#include "msl_test.h"

#include <csignal>
#include <unistd.h>

using msl::run_program;

int main() {
    const std::string big(5 << 20, 'x');
    msl::Finished finished = run_program({"cat"}, big);
    CHECK(finished.status == 0 && finished.output == big && finished.errors.empty());
    finished = run_program({"sh", "-c", "cat; cat /proc/self/fd/0 >&2; exit 3"}, big);
    CHECK(finished.status == 3 && finished.output == big && finished.errors == big);
    CHECK(run_program({"true"}, big).status == 0);
    CHECK(run_program({"sh", "-c", "kill -9 $$"}, "").status == 128 + SIGKILL);

    setenv("CPATH", "/somewhere", 1);
    CHECK_TEXT(run_program({"sh", "-c", "echo \"$CPATH$LC_ALL\""}, "").output, "C\n");

    // No shell has a say in what the arguments mean.
    CHECK_TEXT(run_program({"printf", "%s", "$HOME; `id`"}, "").output, "$HOME; `id`");

    // A host that does not care for its children, with its standard input closed.
    signal(SIGCHLD, SIG_IGN);
    close(0);
    CHECK(run_program({"cat"}, "text").output == "text");
    CHECK(run_program({"sh", "-c", "echo no >&2; exit 1"}, "").status != 0);

    bool failed = false;
    try {
        run_program({"/no/such/program"}, "");
    } catch (const msl::Failure &failure) {
        failed = failure.kind == MSL_FAILURE_IO && contains(failure.message, "/no/such/program");
    }
    CHECK(failed);
}
