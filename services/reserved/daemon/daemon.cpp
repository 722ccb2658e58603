#include "services/reserved/daemon/daemon.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "orb/base/text/counted.h"
#include "orb/corba/init_orb.h"
#include "orb/core/runtime.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/os/clock.h"
#include "orb/os/files/directory.h"
#include "orb/os/files/small_file.h"
#include "orb/os/log.h"
#include "orb/os/machine/core_list.h"
#include "orb/os/machine/host.h"
#include "orb/os/peers/own_user.h"
#include "orb/os/process/error_capture.h"
#include "orb/os/socket_path.h"
#include "services/reserved/backends/made_groups.h"
#include "services/reserved/daemon/end_signals.h"
#include "services/reserved/daemon/host_setup.h"
#include "services/reserved/daemon/notify.h"
#include "services/reserved/daemon/process_watch.h"
#include "services/reserved/daemon/servant.h"

namespace corelane::reserved {
namespace {

using namespace std::chrono_literals;

// Appended to errors about the runtime directory.
constexpr const char* other_directory_text =
    "; -ORBRuntimeDirectory DIR, or runtime.directory in /etc/corelane.toml, names another runtime directory (servers "
    "and corelane are to be told the same)";

constexpr rlim_t most_descriptors = 65536;

Done<os::Topology> read_topology() {
  os::log::ErrorCapture said;
  auto topology = os::Topology::detect();
  if (!topology) return Unexpected{said.take()};
  return std::move(*topology);
}

// Engine owns the ReservationController and everything that the ReservationController needs.
class Engine {
 public:
  static Done<std::unique_ptr<Engine>> start(const core::Settings& settings) {
    std::unique_ptr<Engine> engine(new Engine);
    if (auto started = engine->begin(settings); !started) return Unexpected{started.error()};
    return engine;
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  // Releases all reservations and restores the host, however the daemon ends and at whatever point its start fails.
  ~Engine() {
    watch_.stop();
    if (reserves_) controller_->stop();
    if (setup_) say_faults(setup_->put_back());
  }
  ReservationController& controller() { return *controller_; }

 private:
  Engine() = default;
  Done<void> begin(const core::Settings& settings) {
    const auto& own = settings.services.of<DaemonSettings>();
    auto setup = HostSetup::open(own, settings.runtime_directory);
    if (!setup) return Unexpected{setup.error() + other_directory_text};
    setup_ = *std::move(setup);
    if (const std::string& damage = setup_->host().journal->damage(); !damage.empty()) os::log::error(damage);
    if (const auto left = setup_->host().journal->entries().size(); left > 0) {
      os::log::warn("corelane-reserved ended without putting the host back: " +
                    counted(left, "change of it is", "changes of it are") + " taken back now");
      say_faults(setup_->put_back());
    }
    // Checked for every backend. Affinity masks that this daemon sets on threads would override another daemon's sets.
    if (own.processes == 0)
      if (auto alone = nobody_else(setup_->host(), own.root); !alone) return alone;
    const auto topology = read_topology();  // read after put_back(): until then this process may be in a set
    if (!topology) return Unexpected{topology.error()};
    if (auto chosen = choose(own, topology->cores()); !chosen) return chosen;
    reserves_ = true;
    watch_.start(
        {.ended = [this](const Process& process) { controller_->ended(process); }, .tick = [this] { return tick(); }});
    return {};
  }

  // Starts the first backend that works. The candidates are ordered from the best to the worst.
  Done<void> choose(const DaemonSettings& settings, const std::vector<os::CoreInfo>& cores) {
    std::string faults;
    for (auto& candidate : setup_->candidates(cores)) {
      const std::string kind = candidate.backend->report().kind;
      if (candidate.cores.empty()) {
        faults += "; " + kind + ": there is no such root, or it has no cores that this process may use";
        continue;
      }
      auto started = try_out(settings, std::move(candidate));
      if (started) return {};
      os::log::warn(kind + " cannot be used: " + started.error());
      faults += "; " + kind + ": " + started.error();
      say_faults(setup_->put_back());
    }
    if (faults.empty())
      faults = settings.processes != 0 ? "; with reserved.processes the backend is affinity (or auto)"
                                       : "; none of those that reserved.backend names is to be had on this host";
    return "no way to reserve cores works here" + faults;
  }

  Done<void> try_out(const DaemonSettings& settings, HostSetup::Candidate candidate) {
    backend_ = std::move(candidate.backend);
    interrupts_ = std::make_unique<Interrupts>(setup_->interrupts(), *setup_->host().journal);
    // Makes ids unique across runs. The first id is the time since boot in microseconds. There are far fewer than a
    // million requests per second, so no run reaches the first id of the next one.
    const auto microseconds = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(os::now().time_since_epoch()).count());
    std::vector<CoreId> keep = settings.keep;
    std::ranges::sort(keep);
    AccountOptions options{.kept = keep, .first_id = {microseconds}, .enforces = backend_->enforces()};
    controller_ = std::make_unique<ReservationController>(
        ReservationController::Parts{.accounts = Accounts(candidate.cores, std::move(options)),
                                     .backend = *backend_,
                                     .processes = *setup_->host().processes,
                                     .interrupts = *interrupts_,
                                     .now = os::now,
                                     .watch = [this](const Process& process) { return watch_.watch(process); },
                                     .watch_only = [this](const auto& needed) { watch_.keep_only(needed); },
                                     .hurry = [this] { watch_.hurry(); },
                                     .online = [] { return cores_listed("online"); }});
    return controller_->start();
  }

  // Returns how long to wait for the next tick: 10 ms while a thread is waited for, but at most 100 ticks in a row.
  Duration tick() {
    const bool waits = controller_->tick();
    if (watchdog_period() > Duration::zero()) notify_manager("WATCHDOG=1");
    hurried_ = waits ? hurried_ + 1 : 0;
    return waits && hurried_ < 100 ? Duration{10ms} : tick_period();
  }
  static Duration tick_period() {
    const Duration watchdog = watchdog_period();
    return watchdog == Duration::zero() ? Duration{1s} : std::clamp(watchdog / 3, Duration{100ms}, Duration{1s});
  }
  static void say_faults(const std::vector<std::string>& faults) {
    for (const std::string& fault : faults) os::log::error(fault);
  }

  std::unique_ptr<HostSetup> setup_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Interrupts> interrupts_;
  std::unique_ptr<ReservationController> controller_;
  bool reserves_ = false;  // controller_ has started
  int hurried_ = 0;        // short ticks in a row; used by the watch's thread only
  ProcessWatch watch_;
};

Done<void> write_reference(const std::string& path, const std::string& text) {
  auto written = os::write_small_file(path, text + "\n", 0644);
  if (!written) return Unexpected{written.error().text + os::ownership_text(path) + other_directory_text};
  return {};
}

// Limits connections to half of the file descriptors. The other half is for watched processes and for reading the state
// of the host. One peer gets at most a quarter of that half.
void bound_connections(std::vector<std::string>& words, const core::Settings& settings) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, most_descriptors);
  setrlimit(RLIMIT_NOFILE, &limit);
  const auto most = std::max<std::size_t>(limit.rlim_cur / 2, 1);
  words.insert(
      words.end(),
      {"-ORBLimitsConnections", std::to_string(std::min(settings.connections.connections, most)),
       "-ORBLimitsConnectionsPerPeer",
       std::to_string(std::min(settings.connections.connections_per_peer, std::max<std::size_t>(most / 4, 1)))});
}

// Adds the options that the daemon's ORB always has, whatever the configuration file says. The ORB serves this host
// only, admits no tasks and uses no ledger.
std::vector<std::string> with_own_options(std::vector<std::string> words, const core::Settings& settings) {
  words.insert(words.end(), {"-ORBEndpointListen", "unix:" + core::reservation_socket(settings), "-ORBEndpointUnixMode",
                             "0666", "-ORBPoolRealTime", "off", "-ORBRuntimeLedger", "off", "-ORBLimitsTasks", "0",
                             "-ORBIoPriority", "0", "-ORBRecorderSize", "0", "-ORBDispatchMode", "manager"});
  bound_connections(words, settings);
  return words;
}

std::string line_of(const ReservationControllerStatus& status, const std::vector<CoreState>& cores) {
  std::vector<CoreId> free;
  for (const CoreState& core : cores)
    if (core.use == CoreUse::common) free.push_back(core.info.core);
  return "corelane-reserved: " + status.backend.kind +
         (status.backend.place.empty() ? "" : " below " + status.backend.place) +
         ", cores to give: " + (free.empty() ? "none" : os::core_list_text(free)) + "; " +
         counted(status.started.moved, "thread") + " in the default set, " + std::to_string(status.started.unmovable) +
         " bound to their cores by the kernel" + (os::runs_as_root() ? "" : ", or not this user's to move");
}

// The log line at start names only the first limitation. Returns a text that counts the others.
std::string rest_text(std::size_t others) {
  if (others == 0) return {};
  return "; " + counted(others, "more thing is", "more things are") + " not promised here: corelane cores tells which";
}

Done<void> serve(const std::vector<std::string>& words, const core::Settings& settings, Engine& engine) {
  const auto orb = corba::init_orb(with_own_options(words, settings));
  const EndSignals stop(*orb);
  const auto root = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  const auto poa = root->create_well_known(well_known_key, nullptr);
  const auto servant = CORBA::make_reference<ReservationServant>(
      engine.controller(), AccessList(settings.services.of<DaemonSettings>().users));
  poa->activate_object_with_id({}, servant);
  poa->the_POAManager()->activate();
  const std::string file = settings.runtime_directory + "/" + reference_file;
  auto written = write_reference(file, orb->object_to_string(poa->servant_to_reference(servant)));
  if (written) {
    const std::string line = line_of(engine.controller().status(), engine.controller().cores());
    os::log::info(line);
    if (std::ranges::none_of(engine.controller().cores(),
                             [](const CoreState& core) { return core.use == CoreUse::common; }))
      os::log::warn(
          "no core can be reserved: all cores that the daemon may use are kept for all processes (reserved.keep; by "
          "default the first core)");
    if (const auto& cannot = engine.controller().status().backend.cannot; !cannot.empty())
      os::log::warn(cannot.front() + rest_text(cannot.size() - 1));
    notify_manager("READY=1\nSTATUS=" + line);
    orb->run();
    notify_manager("STOPPING=1");
    std::remove(file.c_str());
  }
  orb->destroy();
  return written;
}

}  // namespace

std::string fault_of(const DaemonSettings& settings) {
  if (settings.processes != 0 && !os::identity_of(settings.processes))
    return "reserved.processes: there is no process " + std::to_string(settings.processes);
  const auto present = cores_listed("present");
  if (!present) return {};
  for (const CoreId core : settings.keep)
    if (std::ranges::find(*present, core) == present->end())
      return "reserved.keep: this machine has no core " + std::to_string(core.value) + ", but " +
             os::core_list_text(*present);
  return {};
}

Expected<void, std::string> run_daemon(const std::vector<std::string>& words, core::Settings settings) {
  if (settings.runtime_directory.empty()) settings.runtime_directory = dispatch::runtime_directory();
  if (const std::string socket = core::reservation_socket(settings);
      !socket.starts_with('/') || !os::unix_address(socket))
    return Unexpected{socket + " can be no socket: its path has to begin with / and to have " +
                      std::to_string(os::longest_unix_path) + " bytes at most" + other_directory_text};
  if (auto made = os::make_directory(settings.runtime_directory); !made)
    return Unexpected{made.error() + other_directory_text};
  const auto engine = Engine::start(settings);
  if (!engine) return Unexpected{engine.error()};
  return serve(words, settings, **engine);
}

}  // namespace corelane::reserved
