#include "listing.h"

#include <cstdlib>

namespace msl {
namespace {

const std::string MAGIC = "flashmetal kernels\n";

// "300 bool masked"
bool read_constant(const std::string &line, std::vector<DeclaredConstant> &constants) {
    const size_t first = line.find(' '), second = line.find(' ', first + 1);
    if (first == std::string::npos || second == std::string::npos) return false;
    constants.push_back({line.substr(second + 1), uint32_t(std::strtoul(line.c_str(), nullptr, 10)),
                         line.substr(first + 1, second - first - 1)});
    return true;
}

}  // namespace

std::string list_kernels(const std::vector<std::string> &names, const std::string &source_digest,
                         const std::vector<DeclaredConstant> &constants) {
    std::string text = MAGIC + source_digest + "\n" + std::to_string(constants.size()) + "\n";
    for (const DeclaredConstant &constant : constants)
        text += std::to_string(constant.index) + " " + constant.type + " " + constant.name + "\n";
    for (const std::string &name : names)
        text += name + "\n";
    return text;
}

bool Listing::read(const std::string &text) {
    if (text.compare(0, MAGIC.size(), MAGIC) != 0) return false;
    std::vector<std::string> lines;
    for (size_t start = MAGIC.size(); start < text.size();) {
        const size_t end = std::min(text.find('\n', start), text.size());
        lines.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    if (lines.size() < 2) return false;
    const size_t kernels = 2 + std::strtoul(lines[1].c_str(), nullptr, 10);
    if (lines.size() < kernels) return false;
    for (size_t i = 2; i < kernels; i++) {
        if (!read_constant(lines[i], constants_)) return false;
    }
    source_digest_ = lines[0];
    names_.assign(lines.begin() + ptrdiff_t(kernels), lines.end());
    for (const std::string &name : names_)
        kernels_.push_back({name.c_str(), nullptr, nullptr, 0, 0, nullptr});
    for (const DeclaredConstant &constant : constants_)
        declared_.push_back({constant.name.c_str(), constant.index, constant.type.c_str()});
    image_ = {MSL_ABI_VERSION,
              uint32_t(kernels_.size()),
              kernels_.data(),
              nullptr,
              source_digest_.c_str(),
              "",
              uint32_t(declared_.size()),
              declared_.data()};
    return true;
}

}  // namespace msl
