// Random lives and deaths on a real host: of processes that reserve cores, of clients in the middle of a call, and of
// the daemon. The host is a test machine, or a cpuset of the test.
// Threads: one.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "orb/core/reservation/reservation_wire.h"
#include "orb/os/clock.h"
#include "orb/os/machine/core_list.h"
#include "reservationC.h"
#include "services/reserved/backends/process_table.h"
#include "tests/services/reserved/running_daemon.h"

namespace corelane::testing {

namespace idl = Corelane::Reservation;

// A process with children that sleep, nap or compute. Together they are a process group of their own.
class Worker {
 public:
  enum class Does { sleeps, naps, computes };

  explicit Worker(Does does, int children = 0) : pid_(fork()) {
    if (pid_ != 0) return;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int child = 0; child < children; ++child)
      if (fork() == 0) live(does);
    live(does);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (pid_ <= 0) return;
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  // Its children continue to live.
  void kill_parent() const {
    kill(pid_, SIGKILL);
    waitid(P_PID, static_cast<id_t>(pid_), nullptr, WEXITED | WNOWAIT);
  }
  int pid() const { return pid_; }
  std::vector<int> tree() const { return reserved::HostProcesses().tree_of(pid_); }
  Duration used() const {
    Duration sum{};
    for (const int pid : tree()) sum += reserved::HostProcesses().used_by(pid);
    return sum;
  }

 private:
  [[noreturn]] static void live(Does does) {
    for (;;)
      if (does == Does::sleeps)
        pause();
      else if (does == Does::naps)
        usleep(1000);  // sleep: so it yields its core and returns
  }
  const pid_t pid_;
};

inline std::string cores_of(int thread) {
  return os::core_list_text(reserved::HostProcesses().affinity(thread).value_or(std::vector<CoreId>{}));
}

inline idl::Holder holder_of(int pid, idl::Scope scope) { return idl::Holder(idl::Process(pid, 0), scope, 0); }
inline idl::ShareWanted two_in_ten() { return idl::ShareWanted(2'000'000, 10'000'000); }

// Reads CORELANE_SEQUENCES.
inline int sequences_wanted(int otherwise) {
  const char* const text = std::getenv("CORELANE_SEQUENCES");
  return text == nullptr ? otherwise : std::stoi(text);
}

// Reads CORELANE_SEED; default 1.
inline unsigned seed_wanted() {
  const char* const text = std::getenv("CORELANE_SEED");
  return text == nullptr ? 1 : static_cast<unsigned>(std::stoul(text));
}

// The machine that they live on.
struct LivesOn {
  std::vector<std::string> options{};  // options of the daemon
  std::size_t cores = 4;
  bool tree_shares = true, thread_shares = true;  // available on this machine
};

// Makes random reservations, ends and deaths of workers, of clients in the middle of a call, and of the daemon.
class RandomLives {
 public:
  explicit RandomLives(LivesOn machine)
      : machine_(std::move(machine)), random_(seed_wanted()), daemon_(machine_.options) {
    connect();
  }

  // Runs one sequence from an idle machine to an idle machine. Returns what was wrong.
  std::string live() {
    const int steps = pick(3, 8);
    for (int step = 0; step < steps && fault_.empty(); ++step) act();
    if (!client_) restart();
    workers_.clear();
    await_idle();
    return fault_;
  }
  std::string end() {
    client_.reset();
    return daemon_.end();
  }
  void start() {
    daemon_.start();
    connect();
  }
  std::string counts() const {
    return std::to_string(granted) + " granted, " + std::to_string(refused) + " refused, " + std::to_string(queued) +
           " queued, " + std::to_string(released) + " released, " + std::to_string(killed) + " workers killed, " +
           std::to_string(callers) + " clients killed in a call, " + std::to_string(daemons) + " daemons killed";
  }

 private:
  int pick(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  void wrong(const std::string& what) { fault_ += what + "\n"; }

  void act() {
    const int what = pick(0, 19);
    if (what == 0) return pick(0, 1) == 0 ? kill_daemon() : kill_daemon_in_a_call();
    if (!client_) return restart();
    if (what <= 2) return kill_caller();
    if (what <= 4) return kill_worker();
    if (what <= 8) return release();
    if (what == 9) return lend();
    reserve();
    look();
  }

  void connect() {
    client_ = std::make_unique<ReservationClient>(daemon_);
    for (const auto& state : client_->server->resource_states())
      if (state.name() == "memory") gives_memory_ = state.most() > 0;
  }
  void kill_daemon() {
    client_.reset();
    if (!dead_) daemon_.kill_now(), ++daemons;
    dead_ = true;
  }
  void restart() {
    if (dead_) daemon_.start();
    dead_ = false;
    connect();
  }
  // Forks a child that reserves for itself. The child, or its daemon, is killed in the middle.
  pid_t start_caller() {
    const pid_t child = fork();
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (auto wire = core::ReservationWire::connect(daemon_.socket()))
      if (core::ReservationWire::Answer answer; wire->ask_for(1, {})) wire->poll(answer, std::chrono::seconds{10});
    for (;;) pause();
  }
  void end_caller(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ++callers;
  }
  void wait_a_moment() {
    os::sleep_until(os::now() + std::chrono::microseconds{pick(0, 30'000)});  // sleep: to interrupt a call at any point
  }
  void kill_caller() {
    const pid_t child = start_caller();
    wait_a_moment();
    end_caller(child);
  }
  void kill_daemon_in_a_call() {
    if (dead_) return;
    const pid_t child = start_caller();
    wait_a_moment();
    kill_daemon();
    end_caller(child);
  }
  void kill_worker() {
    if (workers_.empty()) return;
    auto worker = std::next(workers_.begin(), pick(0, static_cast<int>(workers_.size()) - 1));
    ++killed;
    if (pick(0, 1) == 0) return (*worker)->kill_parent();
    workers_.erase(worker);
  }
  void release() {
    const auto accounts = client_->server->accounts();
    if (accounts.empty()) return;
    const auto id = accounts[static_cast<std::size_t>(pick(0, static_cast<int>(accounts.size()) - 1))].reservation();
    try {
      client_->server->release(id);
      ++released;
    } catch (const idl::Unknown&) {
    }  // it ended meanwhile
  }
  void lend() {
    for (const auto& account : client_->server->accounts()) try {
        client_->server->lend(account.reservation(), idl::Process(getpid(), 0));
        client_->server->work_on(account.reservation());
        if (pick(0, 1) == 0) client_->server->leave(account.reservation());
        return;
      } catch (const idl::Unknown&) {
      } catch (const idl::Refused&) {
      }
  }
  void reserve() {
    workers_.push_back(std::make_unique<Worker>(Worker::Does::sleeps, pick(0, 1)));
    const int pid = workers_.back()->pid();
    const idl::Terms terms(pick(0, 3) == 0 ? 50'000'000 : 0, pick(0, 2) == 0, "a life");
    const int kind = pick(0, 4);
    try {
      idl::CoresWanted wanted;
      wanted.count(static_cast<std::uint16_t>(pick(1, std::min<int>(2, static_cast<int>(machine_.cores) - 1))));
      const idl::Holder tree = holder_of(pid, idl::Scope::process_tree);
      const auto grant =
          gives_memory_ && pick(0, 2) == 0
              ? client_->server->reserve_with(tree, wanted, idl::ShareWanted(0, 0), some_memory(), terms)
          : kind < 3 || !(kind == 3 ? machine_.thread_shares : machine_.tree_shares)
              ? client_->server->reserve_cores(
                    holder_of(pid, kind == 0 ? idl::Scope::one_process : idl::Scope::process_tree), wanted, terms)
              : client_->server->reserve_share(
                    holder_of(pid, kind == 3 ? idl::Scope::one_thread : idl::Scope::process_tree), two_in_ten(), terms);
      ++(grant.waiting() ? queued : granted);
    } catch (const idl::Refused& why) {
      ++refused;
      if (why.cause() == idl::Why::system_refused) wrong("the system refused: " + why.reason());
    }
  }

  idl::ResourceWantedList some_memory() {
    return {idl::ResourceWanted("memory", static_cast<std::uint64_t>(pick(1, 64)) << 20, true)};
  }

  // Checks that no core is lost or has two owners, and that holders run where the accounts say.
  void look() {
    const auto accounts = client_->server->accounts();
    const auto cores = client_->server->cores();
    if (cores.size() != machine_.cores) wrong("there are " + std::to_string(cores.size()) + " cores");
    std::map<int, std::uint64_t> owners;
    for (const auto& account : accounts)
      if (!account.waiting() && account.share().budget() == 0)
        for (const auto core : account.cores())
          if (!owners.emplace(core, account.reservation()).second) wrong("core " + std::to_string(core) + " twice");
    for (const auto& account : accounts) check_place(account);
  }
  void check_place(const idl::Account& account) {
    if (account.waiting() || account.lease_left() != 0) return;
    std::vector<CoreId> expected;
    for (const auto core : account.cores()) expected.push_back({core});
    const int pid = account.whose().who().pid();
    const std::string found = cores_of(pid);
    if (!found.empty() && found != os::core_list_text(expected) && os::is_alive(os::identity_of(pid).value_or(gone())))
      wrong("process " + std::to_string(pid) + " runs on " + found + " and not on " + os::core_list_text(expected));
  }
  static os::ProcessIdentity gone() { return {}; }

  void await_idle() {
    if (!client_->accounts_become(0)) wrong("accounts are left");
    for (const auto& core : client_->server->cores())
      if (core.use() != idl::CoreUse::common && core.use() != idl::CoreUse::withheld)
        wrong("core " + std::to_string(core.core()) + " is lost");
    for (const auto& state : client_->server->resource_states())
      if (state.promised() != 0) wrong(std::to_string(state.promised()) + " of " + state.name() + " are lost");
  }

  const LivesOn machine_;
  std::mt19937 random_;
  RunningDaemon daemon_;
  bool dead_ = false;
  bool gives_memory_ = false;
  std::unique_ptr<ReservationClient> client_;
  std::list<std::unique_ptr<Worker>> workers_;
  std::string fault_;

 public:
  int granted = 0, refused = 0, queued = 0, released = 0, killed = 0, callers = 0, daemons = 0;
};

}  // namespace corelane::testing
