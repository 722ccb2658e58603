// corelane-reserved as root of a whole machine, on its real control groups. In a virtual machine alone: machine.py.
#include <sys/resource.h>
#include <time.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <list>
#include <random>
#include <sstream>

#include "orb/core/reservation_wire.h"
#include "orb/os/core_list.h"
#include "orb/os/scheduling_class.h"
#include "services/reserved/backends/group_files.h"
#include "tests/services/reserved/live_cpusets.h"
#include "tests/services/reserved/running_daemon.h"
#include "tests/vm/machine_picture.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;
namespace idl = Corelane::Reservation;

namespace {

bool in_a_machine() { return std::filesystem::exists("/corelane/command"); }

// "cgroup-v1", "cgroup-v2", "affinity": what this machine has.
std::string backend_here() {
  const reserved::Mounts mounts = reserved::find_mounts();
  if (mounts.v2_cpuset) return "cgroup-v2";
  return mounts.v1_cpuset.empty() ? "affinity" : "cgroup-v1";
}
bool has_groups() { return backend_here() != "affinity"; }

std::string cores_of(int thread) {
  return os::core_list_text(reserved::HostProcesses().affinity(thread).value_or(std::vector<CoreId>{}));
}

// A process, and a child of its own, that do nothing, or nothing else than compute; each in the test's group of
// signals.
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
  // Its children live on.
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
        usleep(1000);  // sleep: so it gives way and comes back
  }
  const pid_t pid_;
};

// How much of one core it uses, measured so that the time is rather too long than too short.
double part_of_core(const Worker& worker, Duration during) {
  const Time began = os::now();
  const Duration before = worker.used();
  os::sleep_until(began + during);  // sleep: what is measured is what another uses meanwhile
  const Duration used = worker.used() - before;
  return std::chrono::duration<double>(used) / (os::now() - began);
}

// A thread that sleeps is under SCHED_DEADLINE once it has run on its new core.
bool comes_under(int policy, const Worker& worker) {
  const Time latest = os::now() + std::chrono::minutes{1};
  while ((sched_getscheduler(worker.pid()) & ~SCHED_RESET_ON_FORK) != policy) {
    if (os::now() > latest) return false;
    os::sleep_until(os::now() + 1ms);  // sleep: between looks
  }
  return true;
}

idl::Holder holder_of(int pid, idl::Scope scope) { return idl::Holder(idl::Process(pid, 0), scope, 0); }
idl::ShareWanted two_in_ten() { return idl::ShareWanted(2'000'000, 10'000'000); }

}  // namespace

#define CORELANE_IN_A_MACHINE()                                                                   \
  if (!in_a_machine()) {                                                                          \
    std::cout << "SKIPPED: it takes a whole machine; tests/vm/machine.py makes one" << std::endl; \
    return;                                                                                       \
  }

TEST_CASE("a process has a core of the machine alone, and the machine is as it was found") {
  CORELANE_IN_A_MACHINE()
  Sleeper other;
  Worker holder(Worker::Does::sleeps, 1);
  const auto before = MachinePicture::taken();
  RunningDaemon daemon({});
  {
    ReservationClient client(daemon);
    CHECK(client.server->state().backend() == backend_here());
    const auto grant = client.reserve(holder.pid(), 2);
    CHECK(grant.cores() == idl::CoreList{2, 3});
    CHECK(grant.promise() == (has_groups() ? idl::Guarantee::exclusive_cores : idl::Guarantee::affinity_only));
    for (const int pid : holder.tree()) CHECK(cores_of(pid) == "2-3");
    CHECK(cores_of(other.pid()) == "0-1");
    client.server->release(grant.reservation());
    CHECK(cores_of(holder.pid()) == "0-3");
  }
  CHECK(daemon.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
  std::cout << "compared: " << before.threads() << " threads, " << before.settings() << " settings" << std::endl;
}

TEST_CASE("a thread is bound to its core when that comes back, and at the end") {
  CORELANE_IN_A_MACHINE()
  Sleeper holder, bound, own;
  reserved::HostProcesses processes;
  REQUIRE(processes.set_affinity(bound.pid(), {{3}}) == 0);
  REQUIRE(processes.set_affinity(own.pid(), {{1}}) == 0);
  const auto before = MachinePicture::taken();
  RunningDaemon daemon({});
  {
    ReservationClient client(daemon);
    const auto grant = client.reserve(holder.pid(), 1);
    CHECK(cores_of(holder.pid()) == "3");
    CHECK(cores_of(bound.pid()) == "0-2");
    CHECK(cores_of(own.pid()) == "1");
    client.server->release(grant.reservation());
    CHECK(cores_of(bound.pid()) == "3");
  }
  CHECK(daemon.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
}

TEST_CASE("what a killed daemon left is put back by the next one, as it was found") {
  CORELANE_IN_A_MACHINE()
  Sleeper holder, bound;
  REQUIRE(reserved::HostProcesses().set_affinity(bound.pid(), {{3}}) == 0);
  const auto before = MachinePicture::taken();
  RunningDaemon daemon({});
  {
    ReservationClient client(daemon);
    client.reserve(holder.pid(), 1);
  }
  daemon.kill_now();
  CHECK(cores_of(holder.pid()) == "3");
  daemon.start();
  CHECK(daemon.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
}

TEST_CASE("a thread with a share is under SCHED_DEADLINE and uses no more than that") {
  CORELANE_IN_A_MACHINE()
  Worker hog(Worker::Does::computes);
  const auto before = MachinePicture::taken();
  RunningDaemon daemon({});
  {
    ReservationClient client(daemon);
    const auto ask = [&] {
      return client.server->reserve_share(holder_of(hog.pid(), idl::Scope::one_thread), two_in_ten(),
                                          idl::Terms(0, false, ""));
    };
    if (!has_groups()) {
      CHECK_THAT(client.refusal_of(ask), Catch::Contains("shares need control groups"));
      return;
    }
    const auto grant = ask();
    CHECK(grant.promise() == idl::Guarantee::thread_deadline);
    CHECK((sched_getscheduler(hog.pid()) & ~SCHED_RESET_ON_FORK) == corelane::os::deadline_class);
    double least = 1;  // a machine that stalls charges it to whoever runs
    for (int round = 0; round < 5 && least > 0.21; ++round) least = std::min(least, part_of_core(hog, 1s));
    std::cout << "a hog under SCHED_DEADLINE 2ms/10ms uses " << least * 100 << " % of a core" << std::endl;
    CHECK(least <= 0.21);
    CHECK(least > 0.01);
    client.server->release(grant.reservation());
    CHECK(sched_getscheduler(hog.pid()) == SCHED_OTHER);
  }
  CHECK(daemon.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
}

TEST_CASE("a thread is under SCHED_FIFO again after its share, and after a daemon that was killed") {
  CORELANE_IN_A_MACHINE()
  if (!has_groups()) return;
  Worker worker(Worker::Does::naps);
  const sched_param priority{.sched_priority = 10};
  REQUIRE(sched_setscheduler(worker.pid(), SCHED_FIFO, &priority) == 0);
  const auto before = MachinePicture::taken();
  RunningDaemon daemon({});
  const auto ask = [&] {
    ReservationClient client(daemon);
    return client.server->reserve_share(holder_of(worker.pid(), idl::Scope::one_thread), two_in_ten(),
                                        idl::Terms(0, false, ""));
  };
  const auto grant = ask();
  CHECK(comes_under(6, worker));
  ReservationClient(daemon).server->release(grant.reservation());
  CHECK(comes_under(SCHED_FIFO, worker));
  ask();
  CHECK(comes_under(6, worker));
  daemon.kill_now();
  daemon.start();
  CHECK(daemon.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
}

TEST_CASE("a tree with a share uses no more than that, all of it together") {
  CORELANE_IN_A_MACHINE()
  if (!has_groups()) return;
  Worker hogs(Worker::Does::computes, 2);
  const auto before = MachinePicture::taken();
  RunningDaemon daemon({});
  {
    ReservationClient client(daemon);
    const auto grant = client.server->reserve_share(holder_of(hogs.pid(), idl::Scope::process_tree), two_in_ten(),
                                                    idl::Terms(0, false, ""));
    CHECK(grant.promise() == idl::Guarantee::tree_bandwidth);
    double least = 1;
    for (int round = 0; round < 5 && least > 0.21; ++round) least = std::min(least, part_of_core(hogs, 1s));
    std::cout << "three hogs in a group held to 2ms/10ms use " << least * 100 << " % of a core" << std::endl;
    CHECK(least <= 0.21);
    CHECK(least > 0.01);
  }
  CHECK(daemon.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
}

TEST_CASE("interrupts stay away from a reserved core, also those to come") {
  CORELANE_IN_A_MACHINE()
  const auto lists = [] {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/irq"))
      if (entry.is_directory()) std::getline(std::ifstream(entry.path() / "smp_affinity_list"), found[entry.path()]);
    return found;
  };
  Sleeper holder;
  const auto before = MachinePicture::taken();
  RunningDaemon daemon({});
  {
    ReservationClient client(daemon);
    client.reserve(holder.pid(), 1);
    unsigned away = 0;
    for (const auto& [irq, list] : lists()) away += list == "0-2";
    const auto state = client.server->state();
    std::cout << "interrupts steered away: " << away << ", fixed: " << state.interrupts_fixed() << std::endl;
    CHECK(away > 0);
    CHECK(away <= state.interrupts_steered());
    std::string mask;
    std::getline(std::ifstream("/proc/irq/default_smp_affinity"), mask);
    CHECK(mask == "7");
  }
  CHECK(daemon.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
}

// A thousand lives.

namespace {

int sequences_wanted() {
  const char* const text = std::getenv("CORELANE_SEQUENCES");
  return text == nullptr ? 20 : std::stoi(text);
}

// Random reservations, ends and deaths, of workers, of clients in the middle of a call, and of the daemon.
class RandomLives {
 public:
  explicit RandomLives(unsigned seed) : random_(seed), daemon_({}) { connect(); }

  // From an idle machine to an idle machine. What was wrong.
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

  void connect() { client_ = std::make_unique<ReservationClient>(daemon_); }
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
  // A child that asks for itself, and is cut off, or whose daemon is.
  pid_t start_caller() {
    const pid_t child = fork();
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (auto wire = core::ReservationWire::connect(daemon_.socket()))
      if (core::ReservationWire::Answer answer; wire->ask_for(1, {})) wire->poll(answer, 10s);
    for (;;) pause();
  }
  void end_caller(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ++callers;
  }
  void wait_a_moment() {
    os::sleep_until(os::now() + std::chrono::microseconds{pick(0, 30'000)});  // sleep: to cut a call off anywhere
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
      wanted.count(static_cast<std::uint16_t>(pick(1, 2)));
      const auto grant =
          kind < 3 || !has_groups()
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

  // No core is lost or owned twice, and holders run where the accounts say.
  void look() {
    const auto accounts = client_->server->accounts();
    const auto cores = client_->server->cores();
    if (cores.size() != 4) wrong("there are " + std::to_string(cores.size()) + " cores");
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
  }

  std::mt19937 random_;
  RunningDaemon daemon_;
  bool dead_ = false;
  std::unique_ptr<ReservationClient> client_;
  std::list<std::unique_ptr<Worker>> workers_;
  std::string fault_;

 public:
  int granted = 0, refused = 0, queued = 0, released = 0, killed = 0, callers = 0, daemons = 0;
};

}  // namespace

TEST_CASE("no core is lost in random lives and deaths, and the machine is as it was found") {
  CORELANE_IN_A_MACHINE()
  const int wanted = sequences_wanted();
  const char* const seed = std::getenv("CORELANE_SEED");
  const Time began = os::now();
  Sleeper bound, loose;
  REQUIRE(reserved::HostProcesses().set_affinity(bound.pid(), {{2}}) == 0);
  const auto before = MachinePicture::taken();
  RandomLives lives(seed == nullptr ? 1 : static_cast<unsigned>(std::stoul(seed)));
  int done = 0;
  for (std::string fault; done < wanted && fault.empty(); ++done) {
    fault = lives.live();
    if (done % 20 == 19 && fault.empty()) {
      if (const auto status = lives.end(); status != "exit status 0") fault = status;
      fault += before.difference(MachinePicture::taken());
      lives.start();
      std::cout << done + 1 << " sequences: " << lives.counts() << std::endl;
    }
    INFO("sequence " << done);
    CHECK(fault == "");
  }
  CHECK(lives.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
  std::cout << done << " sequences by " << backend_here() << ": " << lives.counts() << "; "
            << std::chrono::duration_cast<std::chrono::seconds>(os::now() - began).count() << " s" << std::endl;
}
