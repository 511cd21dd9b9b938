#include "misuse.h"
#include "scheduler.h"

namespace simt {

void report_misuse(uint64_t site, const char *what) {
    Threadgroup &group = *running;
    group.incident.kind = SIMT_FAULT_MISUSE;
    group.incident.site = site;
    group.incident.misuse = what;
    scheduler_leave(group);
}

}  // namespace simt
