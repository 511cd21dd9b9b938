#include "listing.h"

namespace msl {
namespace {

const std::string MAGIC = "flashmetal kernels\n";

}  // namespace

std::string list_kernels(const std::vector<std::string> &names, const std::string &source_digest) {
    std::string text = MAGIC + source_digest + "\n";
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
    if (lines.empty()) return false;
    source_digest_ = lines[0];
    names_.assign(lines.begin() + 1, lines.end());
    for (const std::string &name : names_)
        kernels_.push_back({name.c_str(), nullptr, nullptr, 0, 0, nullptr});
    image_ = {MSL_ABI_VERSION, uint32_t(kernels_.size()), kernels_.data(),
              nullptr,         source_digest_.c_str(),    ""};
    return true;
}

}  // namespace msl
