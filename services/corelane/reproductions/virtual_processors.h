// VirtualProcessor is a thread with bursts of work that runs under a server of orb/sched. Danish, Li & West (RTAS 2011)
// call it a "virtual CPU". run_together() runs several of them on one core of this host.
//
// Threads: one owner makes, starts and stops them. used(), pieces() and cpu_time() may be called by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/budgets/aperiodic_server.h"
#include "orb/os/thread.h"
#include "orb/sched/servers/server.h"

namespace corelane::tool::reproductions {

inline constexpr Duration whole_burst{};  // a burst that lasts until the run ends

struct Burst {
  Duration at{};      // from the beginning
  Duration demand{};  // of processor time, or whole_burst
};

class VirtualProcessor final : public dispatch::ServedThread {
 public:
  // `native`: the SCHED_FIFO level of the thread while its server has budget. For an I/O server: `caller`, whose
  // priority is that level.
  VirtualProcessor(const sched::Server& server, int native, std::vector<Burst> bursts,
                   const sched::IoCaller& caller = {});

  // Returns false if there is no thread or no such core.
  bool start(CoreId core, Time begin);
  void stop() noexcept;

  dispatch::AperiodicServer& server() noexcept { return server_; }
  // Returns how much of its budget it has used until now.
  Duration used() noexcept;
  // Returns how many pieces it has worked (core_work.h).
  std::uint64_t pieces() const noexcept { return pieces_.load(std::memory_order_relaxed); }  // relaxed: a count alone

  void set_native(int native) noexcept override { (void)thread_.set_priority(native); }
  Duration cpu_time() const noexcept override { return thread_.cpu_time(); }

 private:
  void run() noexcept;

  dispatch::AperiodicServer server_;
  const sched::IoCaller caller_;
  const std::vector<Burst> bursts_;
  Time begin_{};
  std::atomic<bool> is_over_{false};
  std::atomic<std::uint64_t> pieces_{0};
  os::Thread thread_;
};

using VirtualProcessors = std::vector<std::unique_ptr<VirtualProcessor>>;

inline constexpr int alarm_priority = 60;   // the SCHED_FIFO level of the thread that watches the budgets
inline constexpr int sample_priority = 59;  // of the thread that looks at them; virtual processors are below

// Returns the time at which a run that is prepared now can begin.
Time begin_of_run() noexcept;

// Starts the virtual processors, calls `look` on a thread above them on the same core, and stops them when it returns.
// So nothing changes while `look` reads clocks. Returns "", or why they cannot run.
std::string run_together(const VirtualProcessors& processors, CoreId core, Time begin,
                         const std::function<void()>& look);

}  // namespace corelane::tool::reproductions
