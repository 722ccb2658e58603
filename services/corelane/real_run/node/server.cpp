// The server of a real run. Each task has an object of its own, so that a servant knows whose jobs it runs.
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "orb/corba/init_orb.h"
#include "orb/corba/portable_server.h"
#include "orb/os/clock.h"
#include "orb/os/privileges.h"
#include "orb/os/thread.h"
#include "orb/rt/current.h"
#include "orb/rt/rt.h"
#include "orb/rt/work.h"
#include "services/corelane/real_run/job_log.h"
#include "services/corelane/real_run/node/jobsS.h"
#include "services/corelane/real_run/node/roles.h"
#include "services/corelane/real_run/node_messages.h"

namespace corelane::tool {
namespace {

std::int64_t ns_of(Time time) noexcept { return time.time_since_epoch().count(); }

// Called by the threads of its task.
class WorkerImpl : public virtual CORBA::servant_traits<::Eval::Worker>::base_type {
 public:
  WorkerImpl(std::size_t task, JobLog& log) : task_(static_cast<std::int64_t>(task)), log_(log) {}

  void run(std::uint32_t number, std::int64_t sent, std::int64_t demand) override {
    const Time begin = os::now();
    const rt::Current job = rt::current();
    const rt::WorkReport work = rt::work(Duration{demand});
    log_.add({.task = task_,
              .number = number,
              .sent = sent,
              .release = ns_of(job ? job.release : begin),
              .begin = ns_of(begin),
              .end = ns_of(os::now()),
              .core = os::current_core().value,
              .execution = demand,
              .gaps = static_cast<std::int64_t>(work.unswitched_gaps),
              .longest_gap = work.longest_unswitched.count()});
  }

 private:
  const std::int64_t task_;
  JobLog& log_;
};

ServeOrder read_order() {
  std::string line;
  std::getline(std::cin, line);
  const auto order = message_of<ServeOrder>(line);
  if (!order) throw std::runtime_error("the server's first line of input is no order: " + order.error().text);
  return *order;
}

ServerReport report_of(core::Orb& orb, const JobLog& log) {
  ServerReport report{.tasks = {}, .jobs = log.rows(), .dropped = log.dropped()};
  for (const dispatch::TaskReport& task : rt::report(orb).tasks)
    report.tasks.push_back({.task = task.task.value,
                            .core = task.core.value,
                            .priority = task.priority.value,
                            .bound = task.bound.count()});
  return report;
}

}  // namespace

int serve_tasks(const std::vector<std::string>& orb_options) {
  rt::calibrate();
  const ServeOrder order = read_order();
  JobLog log(order.jobs);
  auto orb = corba::init_orb(orb_options);
  auto poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  poa->the_POAManager()->activate();
  ServerReady ready{.references = {}, .missing = os::missing(os::privileges()), .real_time = os::privileges().fifo};
  for (std::size_t task = 0; task < order.tasks; ++task) {
    const auto servant = CORBA::make_reference<WorkerImpl>(task, log);  // the adapter keeps it
    ready.references.push_back(orb->object_to_string(servant->_this()));
  }
  std::cout << line_of(ready) << std::endl;

  std::string word;
  if (std::getline(std::cin, word)) std::cout << line_of(report_of(*orb, log)) << std::endl;  // "stop"
  orb->shutdown(true);
  orb->destroy();
  return 0;
}

}  // namespace corelane::tool
