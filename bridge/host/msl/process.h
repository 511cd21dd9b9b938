// Runs another program, without a shell.
#pragma once
#include <string>
#include <vector>

namespace msl {

struct Finished {
    int status = 0;  // of exit; 128 + the signal where one ended it
    std::string output, errors;
};

// `temporary`: the folder that the program is told to use for its temporary files. Throws Failure
// when it cannot be started.
Finished run_program(const std::vector<std::string> &command, const std::string &input,
                     const std::string &temporary);

}  // namespace msl
