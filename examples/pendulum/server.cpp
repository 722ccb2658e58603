// The control service: one servant, a task for each admitted pendulum, a shared task for watch(), and configure()
// without a task.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <map>
#include <memory>
#include <thread>

#include "examples/pendulum/budgets.h"
#include "examples/pendulum/messages.h"
#include "examples/pendulum/overruns.h"
#include "examples/pendulum/pendulumS.h"
#include "examples/pendulum/plant.h"
#include "examples/pendulum/roles.h"
#include "orb/corba/init_orb.h"
#include "orb/corba/portable_server.h"
#include "orb/core/settings.h"
#include "orb/os/clock.h"
#include "orb/os/machine/topology.h"
#include "orb/rt/gap_log.h"
#include "orb/rt/rt.h"
#include "orb/rt/stall_watch.h"
#include "orb/rt/work.h"
#include "services/nameserver/client/registration.h"

namespace corelane::pendulum {
namespace {

// Called by the threads of many tasks at once, and by the best-effort executor.
class ControllerImpl : public virtual CORBA::servant_traits<::Pendulum::Controller>::base_type {
 public:
  ControllerImpl(rt::GapLog& gaps, OverrunLog& overruns) : gaps_(gaps), overruns_(overruns) {}

  double force(const ::Pendulum::State& state, std::int64_t effort) override {
    const rt::WorkReport work = rt::work(std::min(Duration{effort}, longest_effort), &gaps_);
    if (const rt::Current job = rt::current()) overruns_.note(job, work.external);
    // relaxed: counters and a setting; no other data depends on them
    answered_.fetch_add(1, std::memory_order_relaxed);
    return balance({.angle = state.angle(), .rate = state.rate()}, state.length(),
                   profile_.load(std::memory_order_relaxed));
  }

  ::Pendulum::Progress watch() override {
    return ::Pendulum::Progress(answered_.load(std::memory_order_relaxed));  // relaxed: as above
  }

  void configure(const std::string& profile) override {
    if (profile != "calm" && profile != "brisk") throw ::Pendulum::Controller::UnknownProfile(profile);
    profile_.store(profile == "calm" ? Profile::calm : Profile::brisk, std::memory_order_relaxed);  // relaxed: as above
  }

 private:
  static constexpr Duration longest_effort = std::chrono::seconds{1};  // the most that a client may ask for

  rt::GapLog& gaps_;
  OverrunLog& overruns_;
  std::atomic<std::int64_t> answered_{0};
  std::atomic<Profile> profile_{Profile::brisk};
};

// Sets the platform load: what runs above the tasks on this machine during the demo. That is the reader, the manager
// and the plants. The plants run on the same cores as their controllers, and may all wake up at once.
OrbOptions settings_of(const ServerOptions& options, const OrbOptions& orb_options) {
  OrbOptions settings{"-ORBPlatformBudget", "600us", "-ORBPlatformPeriod", "10ms", "-ORBPlatformBlocking", "200us"};
  // All pendulums belong to one user. Their jobs that overrun are counted and continue.
  settings.insert(settings.end(), {"-ORBLimitsPeerTasks", "0", "-ORBLimitsPeerOverrun", "report"});
  if (!options.admission) settings.insert(settings.end(), {"-ORBDispatchAdmission", "off"});
  // Writes a trace after the first missed deadline: a broken promise, or what happens when nothing is promised. The
  // file has a few megabytes at most.
  settings.insert(settings.end(), {"-ORBRecorderDumpOnMiss", "1"});
  settings.insert(settings.end(), orb_options.begin(), orb_options.end());
  return settings;
}

// Returns the cores that the service holds. If its dispatch mode holds none, returns all cores that it may run on.
std::vector<CoreId> cores_of(const dispatch::ExecutiveReport& report) {
  std::vector<CoreId> cores;
  for (const auto& core : report.cores) cores.push_back(core.core);
  const auto topology = os::Topology::detect();
  if (cores.empty() && topology)
    for (const os::CoreInfo& core : topology->cores()) cores.push_back(core.core);
  return cores;
}

std::string unpromising(const dispatch::ExecutiveOptions& options) {
  return options.mode == dispatch::DispatchMode::leader_followers ? "-ORBDispatchMode leader-followers"
                                                                  : "-ORBDispatchAdmission off";
}

// The name ends with this process, however the process ends. `fault`: why there is no name.
using Named = std::unique_ptr<const naming::Registration>;
Named register_name(const std::string& name, const CORBA::object_reference<CORBA::ORB>& orb,
                    const CORBA::object_reference<CORBA::Object>& controller, std::string& fault) try {
  if (name.empty()) return fault = "no nameserver", nullptr;
  return std::make_unique<const naming::Registration>(orb, name, controller);
} catch (const CORBA::Exception& failure) {
  fault = failure.what();
  return nullptr;
}

ServerReady ready_of(const dispatch::ExecutiveReport& report, const std::string& reference,
                     const core::Settings& settings, const std::string& unnamed) {
  ServerReady ready{.reference = reference,
                    .cores = {},
                    .capacity = 0,
                    .promises = report.promises,
                    .unpromising = report.promises ? "" : unpromising(settings.executive),
                    .unnamed = unnamed,
                    .executions = {},
                    .margin = margin_here()};
  for (const CoreId core : cores_of(report)) ready.cores.push_back(core.value);
  for (const Duration longest : longest_executions(cores_of(report))) ready.executions.push_back(longest.count());
  for (const auto& core : report.cores)
    ready.capacity += static_cast<double>(core.capacity - core.platform) / sched::whole_core;
  constexpr double share = static_cast<double>(sched::default_capacity) / sched::whole_core;
  if (report.cores.empty()) ready.capacity = share * static_cast<double>(ready.cores.size());
  return ready;
}

TaskRow row_of(const dispatch::TaskReport& task, const OverrunLog& overruns, const Circumstances& known) {
  TaskRow row{.task = task.task.value,
              .label = task.label,
              .core = task.core.value,
              .priority = task.priority.value,
              .jobs = task.jobs,
              .misses = task.misses,
              .overruns = task.overruns,
              .excused_overruns = overruns.excused(task.task),
              .p50 = microseconds(task.response_p50),
              .p99 = microseconds(task.response_p99),
              .max = microseconds(task.response_max),
              .bound = microseconds(task.bound),
              .deadline = microseconds(task.contract.deadline)};
  for (const dispatch::Miss& miss : task.latest_misses)
    if (known.gaps.external_time(miss.core, miss.release, miss.finished) >= miss.finished - miss.deadline)
      ++row.excused;
    else if (overruns.explains(task, miss, known))
      ++row.for_budgets;
  return row;
}

void add_gap(const rt::Gap& gap, ServerReport& report) {
  const double length = microseconds(gap.length);
  if (gap.cause == rt::GapCause::throttled) {
    ++report.throttles;
    report.throttled += length;
  }
  if (gap.cause != rt::GapCause::machine) return;
  ++report.gaps;
  report.longest_gap = std::max(report.longest_gap, length);
  report.total_gap += length;
}

// Waits until the handler has received all overruns, and returns the report. No job is left, and the handler is called
// soon after a job's end. A job that took too long and also slept too long counts twice, but is reported once. Events
// can also be lost. In these cases this function takes a second.
rt::Report final_report(core::Orb& orb, const OverrunLog& overruns) {
  using namespace std::chrono_literals;
  constexpr int looks = 100;
  rt::Report report = rt::report(orb);
  const auto all_told = [&] {
    std::uint64_t happened = 0;
    for (const dispatch::TaskReport& task : report.tasks) happened += task.overruns + task.oversleeps;
    return overruns.told() >= happened;
  };
  for (int left = looks; !all_told() && left > 0; --left) std::this_thread::sleep_for(10ms);
  return report;
}

ServerReport report_of(const rt::Report& executive, const Circumstances& known, const OverrunLog& overruns,
                       Duration observed) {
  ServerReport report;
  report.dropped_oneways = executive.dropped_oneways;
  for (const dispatch::TaskReport& task : executive.tasks) report.tasks.push_back(row_of(task, overruns, known));
  for (const rt::Gap& gap : known.gaps.gaps()) add_gap(gap, report);
  report.observed = microseconds(observed) * static_cast<double>(cores_of(executive).size());
  return report;
}

}  // namespace

int serve(const ServerOptions& options, const OrbOptions& orb_options) {
  rt::calibrate();
  auto orb = corba::init_orb(settings_of(options, orb_options));
  auto poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  poa->the_POAManager()->activate();
  rt::GapLog gaps(1 << 16);
  OverrunLog overruns;
  rt::on_overrun(*orb, [&overruns](const rt::TaskEvent& overrun) { overruns.heard(overrun); });
  const auto servant = CORBA::make_reference<ControllerImpl>(gaps, overruns);
  const auto controller = servant->_this();

  const auto idle = rt::report(*orb);
  const core::Settings& settings = orb->settings();
  const rt::StallWatch watch(cores_of(idle), gaps, std::max(settings.io_priority, settings.executive.highest_native));
  const Time start = os::now();
  std::string unnamed;
  Named name = register_name(options.name, orb, controller, unnamed);
  std::cout << line_of(ready_of(idle, orb->object_to_string(controller), settings, unnamed)) << std::flush;

  std::string word;
  std::getline(std::cin, word);  // "stop", or the end of the conductor's process
  const rt::Report report = final_report(*orb, overruns);
  const Circumstances known{report, settings.executive.platform, gaps};
  std::cout << line_of(report_of(report, known, overruns, os::now() - start)) << std::flush;
  rt::on_overrun(*orb, {});
  name.reset();
  orb->shutdown(true);
  orb->destroy();
  return 0;
}

}  // namespace corelane::pendulum
