// Runs another program, without a shell.
#pragma once
#include <string>
#include <vector>

namespace msl {

struct Finished {
    int status = 0;  // of exit; 128 + the signal where one ended it
    std::string output, errors;
};

// `input` is what the program reads from its standard input, a file that it may also open anew.
// Throws Failure when it cannot be started.
Finished run_program(const std::vector<std::string> &command, const std::string &input);

}  // namespace msl
