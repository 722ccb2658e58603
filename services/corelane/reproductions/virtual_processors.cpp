#include "services/corelane/reproductions/virtual_processors.h"

#include <utility>

#include "orb/dispatch/cores/budget_thread.h"
#include "orb/os/clock.h"
#include "services/corelane/reproductions/core_work.h"

namespace corelane::tool::reproductions {
namespace {

std::string start_all(const VirtualProcessors& processors, CoreId core, Time begin) {
  for (const auto& processor : processors)
    if (!processor->start(core, begin)) return no_thread_for(core);
  return {};
}

std::string look_from_above(CoreId core, const std::function<void()>& look) {
  auto thread = os::start_thread({.name = "look", .core = core, .fifo_priority = sample_priority}, [&] { look(); });
  if (!thread) return no_thread_for(core);
  thread->join();
  return {};
}

}  // namespace

VirtualProcessor::VirtualProcessor(const sched::Server& server, int native, std::vector<Burst> bursts,
                                   const sched::IoCaller& caller)
    : server_(server, native, {}, dispatch::AperiodicServer::Work::always_runs),
      caller_(caller),
      bursts_(std::move(bursts)) {}

bool VirtualProcessor::start(CoreId core, Time begin) {
  begin_ = begin;
  auto thread = os::start_thread({.name = "vcpu", .core = core}, [this] { run(); });
  if (!thread) return false;
  thread_ = std::move(*thread);
  server_.add(*this);
  server_.grant();
  return true;
}

void VirtualProcessor::stop() noexcept {
  is_over_.store(true, std::memory_order_relaxed);  // relaxed: it only ends the thread
  thread_.join();
}

Duration VirtualProcessor::used() noexcept {
  server_.check();
  return server_.status().used;
}

void VirtualProcessor::run() noexcept {
  const auto is_over = [&] { return is_over_.load(std::memory_order_relaxed); };  // relaxed: see stop()
  for (const Burst& burst : bursts_) {
    os::sleep_until(begin_ + burst.at);
    server_.work(caller_);
    const Duration end = os::thread_cpu_time() + burst.demand;  // by the clock that the server charges
    while (!is_over() && (burst.demand == whole_burst || os::thread_cpu_time() < end)) {
      work_a_piece();
      pieces_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count alone
    }
    server_.rest();
  }
}

Time begin_of_run() noexcept { return os::now() + time_for_others; }

std::string run_together(const VirtualProcessors& processors, CoreId core, Time begin,
                         const std::function<void()>& look) {
  std::vector<dispatch::AperiodicServer*> watched;
  for (const auto& processor : processors) watched.push_back(&processor->server());
  dispatch::BudgetThread budgets({}, watched);
  if (!budgets.start({.name = "alarms", .fifo_priority = alarm_priority}))
    return "there is no timer left for the budgets; end other programs";
  std::string fault = start_all(processors, core, begin);
  if (fault.empty()) fault = look_from_above(core, look);
  for (const auto& processor : processors) processor->server().dismiss();
  for (const auto& processor : processors) processor->set_native(0);
  budgets.stop();
  for (const auto& processor : processors) processor->stop();
  return fault;
}

}  // namespace corelane::tool::reproductions
