#include "orb/core/runtime.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/core/reservation/reserved_cores.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/os/fd.h"
#include "orb/os/files/directory.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/machine/topology.h"
#include "orb/os/mutex.h"
#include "orb/os/privileges.h"
#include "orb/os/threads/thread_state.h"

namespace corelane::core {
namespace {

Expected<std::unique_ptr<dispatch::CoreProvider>> make_ledger(const Settings& settings) {
  auto topology = os::Topology::detect();
  if (!topology) return topology.error();
  if (!settings.ledger)
    return std::unique_ptr<dispatch::CoreProvider>(
        std::make_unique<dispatch::UnguardedCores>(*topology, settings.executive.max_tasks > 0));
  auto ledger = dispatch::HostLedger::open(*topology, runtime_directory_of(settings));
  if (!ledger) return ledger.error();
  return std::unique_ptr<dispatch::CoreProvider>(std::move(*ledger));
}

// Returns the sockets to try. A socket that does not exist is left out without a message, unless reserved cores are
// required.
std::vector<std::string> usable_reservation_sockets(const Settings& settings) {
  auto sockets = reservation_sockets(settings);
  if (settings.reserved.use != ReservedSettings::Use::required)
    std::erase_if(sockets, [](const std::string& path) { return ::access(path.c_str(), F_OK) != 0; });
  return sockets;
}

// Without SCHED_FIFO and binding, tasks cannot have cores for themselves.
Expected<std::unique_ptr<dispatch::CoreProvider>> make_provider(const Settings& settings) {
  auto ledger = make_ledger(settings);
  if (!ledger || settings.reserved.use == ReservedSettings::Use::off || !settings.executive.real_time) return ledger;
  auto sockets = usable_reservation_sockets(settings);
  if (sockets.empty()) return ledger;
  const bool required = settings.reserved.use == ReservedSettings::Use::required;
  ReservedCores::Options options{.sockets = std::move(sockets), .count = settings.reserved.cores, .required = required};
  return std::unique_ptr<dispatch::CoreProvider>(
      std::make_unique<ReservedCores>(std::move(*ledger), std::move(options)));
}

// Logs a line once per process, even if many ORBs come and go. For facts that do not change while the process runs.
void warn_once(const std::string& line) {
  static os::Mutex mutex;
  static std::set<std::string> said CORELANE_GUARDED_BY(mutex);
  const os::LockGuard lock(mutex);
  if (said.insert(line).second) os::log::warn(line);
}

// Call it before threads are made, since it locks their stacks, too.
void prepare_real_time(bool wanted) {
  if (!wanted)
    return warn_once(
        "pool.real_time is off: tasks run under SCHED_OTHER on any core, and their memory is not locked. Any other "
        "load may make them late, so admitted deadlines hold at best on an idle machine. To get deadlines, remove this "
        "setting");
  if (const os::Fd status(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
      !status && (errno == EMFILE || errno == ENFILE))
    return warn_once(
        "this process has no file descriptor left, so it cannot find out its rights, and its memory is not locked; "
        "raise ulimit -n");
  for (const std::string& line : os::missing(os::privileges())) warn_once(line);
  if (!os::run_delay())
    warn_once(
        "the kernel does not tell how long threads wait for a core (/proc/thread-self/schedstat), so undeclared waits "
        "of jobs (`blocks`) are not counted. Use a kernel with CONFIG_SCHED_INFO");
  if (os::privileges().memlock && !os::lock_memory())
    warn_once("memory could not be locked: a page fault may delay a job by milliseconds");
}

sched::Reservation reading(const Settings& settings) {
  return {.budget = settings.executive.reader.budget, .period = settings.executive.reader.period};
}

// Returns what is wrong with the reader's budget; nothing if it is correct, or if there is no budget.
std::optional<std::string> reader_fault(const Settings& settings) {
  constexpr Duration least = std::chrono::microseconds{10};  // one turn of reading takes a few microseconds
  const sched::Reservation budget = reading(settings);
  if (budget.budget == Duration::zero()) return std::nullopt;
  if (budget.budget < least)
    return "io.budget is platform, 0us (no limit), or 10us and more, not " + to_string(budget.budget);
  if (auto fault = sched::fault_of("io", budget)) return fault;
  if (sched::can_serve_reader(settings.executive.reader_server, budget)) return std::nullopt;
  return "io.budget = " + to_string(budget.budget) + " is too small a part of io.period = " + to_string(budget.period) +
         " for io.server = pibs; give at least four millionths of it, or use sporadic";
}

// Returns the budget for reading messages that no contract foresees: the platform load's. Returns nothing if the
// platform load does not include reading, or if this mode makes no promises.
std::optional<sched::Reservation> unforeseen_reading(const Settings& settings) {
  const sched::PlatformLoad& platform = settings.executive.platform;
  const sched::Reservation budget{.budget = platform.budget, .period = platform.period};
  const bool promises = settings.executive.mode != dispatch::DispatchMode::leader_followers;
  if (!settings.io_within_platform || !promises || !sched::is_sound(budget)) return std::nullopt;
  return budget;
}

// Gives the reader thread its priority above the tasks, and its budget. A process that only calls has no budget. Work
// that needs no priority goes to an ordinary thread. So a peer cannot cause work above the tasks by connecting, or by
// reading large replies slowly. Errors: those of starting that thread.
Expected<void> raise_reader(transport::Reactor& reactor, const Settings& settings) {
  const int priority = settings.io_priority;
  if (priority == 0) return {};
  if (reactor.set_priority(priority)) {
    if (const auto split = reactor.split_off_ordinary_work(); !split) return split.error();
    if (settings.executive.reader.budget > Duration::zero())
      reactor.limit_reads(reading(settings), settings.executive.reader_server);
    if (const auto budget = unforeseen_reading(settings)) reactor.limit_unforeseen_reads(*budget);
    return {};
  }
  if (const std::string line = os::refused_reader(os::privileges(), priority); !line.empty()) warn_once(line);
  return {};
}

// Returns the executive's options with the directories for traces and for requests for traces, and with the cores of
// leader-followers if tasks are allocated to them.
Expected<dispatch::ExecutiveOptions> with_places(const Settings& settings) {
  dispatch::ExecutiveOptions options = settings.executive;
  options.recorder.runtime_directory = runtime_directory_of(settings);
  if (options.recorder.directory.empty()) options.recorder.directory = options.recorder.runtime_directory + "/traces";
  if (settings.executive.mode == dispatch::DispatchMode::leader_followers &&
      settings.followers.placement == leader_followers::Placement::allocated) {
    auto cores = follower_cores(settings);
    if (!cores) return cores.error();
    options.follower_cores = std::move(*cores);
  }
  return options;
}

}  // namespace

std::string reservation_socket(const Settings& settings) {
  if (!settings.reserved.socket.empty()) return settings.reserved.socket;
  return runtime_directory_of(settings) + "/reserved.sock";
}

std::vector<std::string> reservation_sockets(const Settings& settings) {
  const std::string of_host = "/run/corelane/reserved.sock";
  std::vector<std::string> sockets{reservation_socket(settings)};
  if (settings.reserved.socket.empty() && !is_runtime_directory_given(settings) && sockets.front() != of_host)
    sockets.push_back(of_host);
  return sockets;
}

std::string runtime_directory_of(const Settings& settings) {
  return settings.runtime_directory.empty() ? dispatch::runtime_directory() : settings.runtime_directory;
}

bool is_runtime_directory_given(const Settings& settings) {
  return !settings.runtime_directory.empty() || std::getenv("CORELANE_RUNTIME_DIRECTORY") != nullptr;
}

Expected<std::vector<CoreId>> follower_cores(const Settings& settings) {
  const auto topology = os::Topology::detect();
  if (!topology) return topology.error();
  std::vector<CoreId> cores = settings.executive.lease.cores;
  if (const std::string fault = os::fault_of(cores, topology->cores()); !fault.empty()) {
    os::log::error("pool.cores: " + fault);
    return Error{ErrorKind::bad_param, Completion::no, minor::core_unusable};
  }
  if (cores.empty())
    for (const os::CoreInfo& core : topology->cores()) cores.push_back(core.core);
  return cores;
}

std::string runtime_directory_fault(const Settings& settings) {
  const std::string directory = runtime_directory_of(settings);
  if (const auto ready = os::make_directory(directory); !ready) return ready.error() + "; set runtime.directory";
  if (access(directory.c_str(), W_OK | X_OK) == 0) return {};
  return "this user may not write into " + directory + "; set runtime.directory";
}

std::string unused_settings(const Settings& settings) {
  if (settings.executive.mode != dispatch::DispatchMode::leader_followers) return {};
  std::string unused;
  for (const SettingsEntry& entry : settings_table())
    if (entry.same && !entry.followers && !entry.same(settings, Settings{}))
      unused += (unused.empty() ? "" : ", ") + std::string(entry.key);
  return unused.empty() ? unused : "dispatch.mode = leader-followers does not look at " + unused;
}

constinit os::Mutex Runtime::all_mutex_;

std::shared_ptr<Runtime> Runtime::of_process() {
  static auto& current = *new std::weak_ptr<Runtime>;  // never destroyed: destructors of static objects may make an ORB
  const os::LockGuard lock(all_mutex_);
  auto runtime = current.lock();
  if (!runtime || runtime->orbs_ == 0) current = runtime = std::make_shared<Runtime>();
  ++runtime->orbs_;
  return runtime;
}

void Runtime::leave() {
  {
    const os::LockGuard lock(all_mutex_);
    if (--orbs_ > 0) return;
  }
  stop();
}

Expected<transport::Reactor*> Runtime::reactor() {
  const os::LockGuard lock(mutex_);
  return start_reactor();
}

Expected<transport::Reactor*> Runtime::start_reactor() {
  if (stopped_) return errors::orb_destroyed;
  if (!reactor_) {
    auto reactor = transport::Reactor::start();
    if (!reactor) return reactor.error();
    reactor_ = std::move(*reactor);
  }
  return reactor_.get();
}

Expected<dispatch::Executive*> Runtime::executive(const Settings& settings) {
  const os::LockGuard lock(mutex_);
  if (stopped_) return errors::orb_destroyed;
  if (!executive_)
    if (const auto started = start_executive(settings); !started) return started.error();
  if (const std::string differs = conflict_with(settings); !differs.empty()) {
    os::log::error(differs);
    return Error{ErrorKind::bad_param, Completion::no, minor::bad_option};
  }
  return executive_.get();
}

Expected<void> Runtime::start_executive(const Settings& settings) {
  if (const auto fault = reader_fault(settings)) {
    os::log::error(*fault);
    return Error{ErrorKind::bad_param, Completion::no, minor::bad_option};
  }
  auto provider = make_provider(settings);
  if (!provider) return provider.error();
  const auto reactor = start_reactor();
  if (!reactor) return reactor.error();
  // A server without real-time threads that admits no task makes no promises, so it logs no warning.
  if (settings.executive.real_time || settings.executive.max_tasks > 0) prepare_real_time(settings.executive.real_time);
  if (const std::string unused = unused_settings(settings); !unused.empty()) os::log::warn(unused);
  const auto options = with_places(settings);
  if (!options) return options.error();
  auto executive = dispatch::Executive::start(*options, **provider);
  if (!executive) return executive.error();
  if (settings.executive.real_time)
    if (const auto raised = raise_reader(**reactor, settings); !raised) return raised.error();
  provider_ = std::move(*provider);
  executive_ = std::move(*executive);
  settings_ = std::make_unique<const Settings>(settings);
  return {};
}

std::string Runtime::conflict(const Settings& settings) {
  const os::LockGuard lock(mutex_);
  return conflict_with(settings);
}

std::string Runtime::conflict_with(const Settings& settings) const {
  if (!settings_) return {};
  for (const SettingsEntry& entry : settings_table())
    if (entry.same && !entry.same(*settings_, settings))
      return std::string(entry.key) +
             " differs from that of the ORB which started this process's threads; give all its ORBs the same";
  return {};
}

dispatch::Executive* Runtime::started_executive() {
  const os::LockGuard lock(mutex_);
  return executive_.get();
}

// Stops without holding the lock, since threads that still run may need it.
void Runtime::stop() {
  dispatch::Executive* executive = nullptr;
  transport::Reactor* reactor = nullptr;
  {
    const os::LockGuard lock(mutex_);
    stopped_ = true;
    executive = executive_.get();
    reactor = reactor_.get();
  }
  if (executive) executive->stop();
  if (reactor) reactor->stop();
}

}  // namespace corelane::core
