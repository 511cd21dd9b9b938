// What has been done to a few neighbouring bytes of memory that were always touched together: as
// much of it as any later access can be in a race with.
#pragma once
#include "access.h"
#include "sight.h"

namespace simt {

// Accesses of one kind, so far as they matter: two of threads that no barrier orders to each other,
// so that any third is open to one of them; of several threadgroups, the first and the last one.
// What atomics order is only looked at when there would be a race: of those between the two, one
// that is not covered where both of them are goes by unseen.
struct Accesses {
    Access first, second;

    const Access *open_to(const Access &now, uint32_t oldest, const Order &order,
                          Sight &sight) const;
    void add(const Access &now, uint32_t oldest, const Order &order);
};

struct AtomicAccesses {
    Accesses reads, writes;
    uint32_t handover = 0;  // what whoever comes next receives
};

class Cell {
  public:
    // The access that `now` is in a race with; null: none. Those of threadgroups before `oldest`
    // are long over.
    const Access *race(msl_access kind, const Access &now, const AtomicAccesses *atomics,
                       uint32_t oldest, const Order &order, Sight &sight,
                       msl_access &kind_before) const;
    void add(msl_access kind, const Access &now, AtomicAccesses *atomics, uint32_t oldest,
             const Order &order);

    uint32_t atomics = 0;  // the number of its AtomicAccesses, from 1 on; 0: none

  private:
    Access write_;
    Accesses reads_;
};

}  // namespace simt
