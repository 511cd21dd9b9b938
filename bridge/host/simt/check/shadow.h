// Cells for the memory that kernels touch, made page by page when it is first touched.
#pragma once
#include "cell.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace simt {

class Shadow {
  public:
    // Calls visit(cell, address) for the cells of these bytes, which cover nothing else, until it
    // returns false.
    template <class Visit> void visit(uintptr_t address, size_t bytes, Visit visit);

    AtomicAccesses &atomics_of(Cell &cell);
    // Null: none yet.
    const AtomicAccesses *atomics_of(const Cell &cell) const {
        return cell.atomics != 0 ? &atomics_[cell.atomics - 1] : nullptr;
    }
    // What it takes itself.
    size_t bytes() const { return bytes_; }
    void clear();

  private:
    static constexpr size_t PAGE_BYTES = 4096;
    static constexpr unsigned WIDEST = 4;  // most kernels touch memory by vectors of 16 bytes
    static constexpr size_t RECENT_PAGES = 64;

    struct Page {
        uintptr_t number = 0;
        unsigned shift = WIDEST;  // a cell stands for 2^shift bytes
        std::vector<Cell> cells;
    };

    Page &page(uintptr_t number);
    Page &make_page(uintptr_t number);
    // Makes the cells of a page so fine that accesses at such addresses cover whole ones.
    void refine(Page &page, unsigned shift);

    std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages_;
    Page *recent_[RECENT_PAGES] = {};
    std::vector<AtomicAccesses> atomics_;
    size_t bytes_ = 0;
};

inline Shadow::Page &Shadow::page(uintptr_t number) {
    Page *recent = recent_[number % RECENT_PAGES];
    return recent != nullptr && recent->number == number ? *recent : make_page(number);
}

template <class Visit> void Shadow::visit(uintptr_t address, size_t bytes, Visit visit) {
    const uintptr_t end = address + bytes;
    while (address < end) {
        Page &here = page(address / PAGE_BYTES);
        const uintptr_t start = address % PAGE_BYTES;
        const uintptr_t stop =
            end - address < PAGE_BYTES - start ? start + (end - address) : PAGE_BYTES;
        const unsigned shift = static_cast<unsigned>(__builtin_ctzl(start | stop | 1u << WIDEST));
        if (shift < here.shift) refine(here, shift);
        for (uintptr_t i = start >> here.shift; i < stop >> here.shift; i++) {
            if (!visit(here.cells[i], address - start + (i << here.shift))) return;
        }
        address += stop - start;
    }
}

}  // namespace simt
