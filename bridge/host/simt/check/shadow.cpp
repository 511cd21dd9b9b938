#include "shadow.h"

namespace simt {

Shadow::Page &Shadow::make_page(uintptr_t number) {
    std::unique_ptr<Page> &page = pages_[number];
    if (!page) {
        page = std::make_unique<Page>();
        page->number = number;
        page->cells.resize(PAGE_BYTES >> WIDEST);
        bytes_ += page->cells.size() * sizeof(Cell);
    }
    recent_[number % RECENT_PAGES] = page.get();
    return *page;
}

void Shadow::refine(Page &page, unsigned shift) {
    const size_t parts = size_t{1} << (page.shift - shift);
    std::vector<Cell> fine;
    fine.reserve(page.cells.size() * parts);
    for (const Cell &cell : page.cells) {
        for (size_t i = 0; i < parts; i++) {
            fine.push_back(cell);
            if (cell.atomics == 0 || i == 0) continue;
            atomics_.push_back(AtomicAccesses(*atomics_of(cell)));
            fine.back().atomics = static_cast<uint32_t>(atomics_.size());
        }
    }
    bytes_ += (fine.size() - page.cells.size()) * sizeof(Cell);
    page.cells = std::move(fine);
    page.shift = shift;
}

AtomicAccesses &Shadow::atomics_of(Cell &cell) {
    if (cell.atomics == 0) {
        atomics_.emplace_back();
        cell.atomics = static_cast<uint32_t>(atomics_.size());
    }
    return atomics_[cell.atomics - 1];
}

void Shadow::clear() {
    pages_.clear();
    atomics_.clear();
    std::fill_n(recent_, RECENT_PAGES, nullptr);
    bytes_ = 0;
}

}  // namespace simt
