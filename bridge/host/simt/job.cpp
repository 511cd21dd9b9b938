#include "job.h"
#include "fault.h"
#include "workers.h"

namespace simt {

void Job::run() {
    std::unique_ptr<Worker> worker = workers_.take();
    if (!worker) return fail(fault_out_of_memory(launch));
    worker->run(*this);
    workers_.give_back(std::move(worker));
}

}  // namespace simt
