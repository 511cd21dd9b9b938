// What has been done to a few neighbouring bytes of memory that were always touched together: as
// much of it as any later access can be in a race with.
#pragma once
#include "access.h"

namespace simt {

// Accesses of one kind, so far as they matter. Threadgroups run one after another, so that one of
// an earlier threadgroup is in a race with whatever comes; else two of threads that are not ordered
// to each other are: any third is open to one of them.
struct Accesses {
    Access first, second;

    const Access *open_to(const Access &now, uint32_t oldest, const Order &order) const;
    void add(const Access &now, uint32_t oldest, const Order &order);
};

struct AtomicAccesses {
    Accesses reads, writes;
};

class Cell {
  public:
    // The access that `now` is in a race with; null: none. Those of threadgroups before `oldest`
    // are long over.
    const Access *race(msl_access kind, const Access &now, const AtomicAccesses *atomics,
                       uint32_t oldest, const Order &order, msl_access &kind_before) const;
    void add(msl_access kind, const Access &now, AtomicAccesses *atomics, uint32_t oldest,
             const Order &order);

    uint32_t atomics = 0;  // the number of its AtomicAccesses, from 1 on; 0: none

  private:
    Access write_;
    Accesses reads_;
};

}  // namespace simt
