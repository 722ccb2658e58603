// The soak test: attacks of every kind take turns against a server process, and against an omniORB server if omniORB
// was found. Clients call both servers at a steady pace. The test checks that no call to Corelane's server fails, and
// that its descriptors, threads and memory do not grow. It prints a line for each phase with the times of calls, and a
// table at the end.
//
// By default it runs three cycles. For longer runs:
// - CORELANE_SOAK_SECONDS: the total time
// - CORELANE_SOAK_PHASE (300): the milliseconds of a phase; the calm phase takes three times as long, a flood a quarter
// - CORELANE_SOAK_CLIENTS (16): how many clients
// - CORELANE_SOAK_PACE (200): the milliseconds between two calls of a client
// - CORELANE_SOAK_ONLY: runs only the attacks whose name contains this text
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "orb/base/sanitizer.h"
#include "orb/os/clock.h"
#include "orb/os/process/child_process.h"
#include "tests/attack/attack.h"
#include "tests/attack/requests.h"
#include "tests/attack/server_process.h"
#include "tests/support/quiet.h"
#include "tests/support/system/from_environment.h"
#include "tests/support/system/temp_directory.h"

namespace corelane::attack {
namespace {

using namespace corelane::testing;
using namespace std::chrono_literals;
using transport::TransportKind;
namespace kinds = transport::kinds;
using Words = std::vector<std::string>;

constexpr std::size_t long_message = 15 * mib;
struct Length {
  std::chrono::seconds total{from_environment("CORELANE_SOAK_SECONDS", 0)};
  std::chrono::milliseconds phase{from_environment("CORELANE_SOAK_PHASE", 300)};
  std::chrono::milliseconds pace{from_environment("CORELANE_SOAK_PACE", 200)};
  std::size_t clients = from_environment("CORELANE_SOAK_CLIENTS", 16);
  std::size_t cycles = 3;  // at least
};

// ---- Clients that call steadily ----

struct Calls {
  std::size_t served = 0, failed = 0;
  std::vector<std::int64_t> times;  // in us

  void add(const Calls& more) {
    served += more.served, failed += more.failed;
    times.insert(times.end(), more.times.begin(), more.times.end());
  }
  std::string text() const {
    std::vector<std::int64_t> sorted = times;
    std::ranges::sort(sorted);
    const auto at = [&](std::size_t percent) {
      return sorted.empty() ? 0.0 : static_cast<double>(sorted[(sorted.size() - 1) * percent / 100]) / 1000;
    };
    std::array<char, 100> line;
    std::snprintf(line.data(), line.size(), "%zu/%zu %.2f %.2f %.1f", served, failed, at(50), at(99), at(100));
    return line.data();
  }
};

// What each client calls.
struct Called {
  std::string what, word;
};

class SteadyClients {
 public:
  SteadyClients(const Length& length, std::vector<Called> called) : called_(std::move(called)) {
    Words command{os::program_beside("corelane-attack-server"), "steady", std::to_string(length.pace.count())};
    for (const Called& each : called_) command.push_back(each.word);
    for (std::size_t i = 0; i < length.clients; ++i) clients_.emplace_back(command);
    (void)take();  // afterwards all clients have begun
  }

  // Returns, for each object that they call, the calls of all clients since the last time.
  std::vector<Calls> take() {
    for (os::ChildProcess& client : clients_) client.write_line("report");
    std::vector<Calls> all(called_.size());
    for (os::ChildProcess& client : clients_)
      for (Calls& calls : all) {
        const auto line = client.read_line();
        REQUIRE(line);
        std::istringstream words(*line);
        Calls one;
        REQUIRE(words >> one.served >> one.failed);
        for (std::int64_t time = 0; words >> time;) one.times.push_back(time);
        calls.add(one);
      }
    return all;
  }
  const std::vector<Called>& called() const { return called_; }
  bool end() {
    bool all = true;
    for (os::ChildProcess& client : clients_) {
      client.end_input();
      all = client.wait()->ok() && all;
    }
    return all;
  }

 private:
  std::vector<Called> called_;
  std::deque<os::ChildProcess> clients_;
};

// ---- Attacks ----

struct Target {
  ServerProcess* server;
  std::string directory;  // runtime.directory of its clients in this process
  std::atomic<std::size_t> called_back{0}, not_called_back{0};
};

Attack::Plan plan(std::vector<std::byte> bytes, std::size_t connections = 3) {
  return {.bytes = std::move(bytes), .connections = connections};
}
Attack::Plan held(std::vector<std::byte> bytes, std::size_t connections) {
  return {.bytes = std::move(bytes), .repeats = false, .connections = connections, .addresses = 4};
}
std::vector<std::byte> note_of(const Target& target, std::size_t size) {
  const std::string text(size, 'x');
  return request(target.server->key, "note", &text, true);
}
std::vector<std::byte> half_message(const Target& target) {
  auto bytes = note_of(target, long_message);
  bytes.pop_back();
  return bytes;
}

using Act = std::function<void(Target&, Time until)>;
Act attack_by(std::function<Attack::Plan(const Target&)> plan_of) {
  return [plan_of = std::move(plan_of)](Target& target, Time until) {
    const Attack attack(target.server->endpoint(&kinds::tcp), plan_of(target));
    os::sleep_until(until);  // sleep: the length of the attack
  };
}

// Runs a client that serves an object, has it called back, and ends.
void be_called_back(Target& target, bool by_tcp) {
  ProbeServer guest({"-ORBTimeoutRequest", "100s", "-ORBRuntimeDirectory", target.directory, "-ORBEndpointLocal",
                     by_tcp ? "off" : "on"});
  try {
    (void)target.server->probe_at(guest.orb, &kinds::tcp)->pass(guest.reference);
  } catch (const CORBA::SystemException&) {
  }
  ++(guest.servant->pings == 1 ? target.called_back : target.not_called_back);
}

// Opens bare connections, of which every second one ends in the middle of its request. Also runs clients that are
// called back.
void come_and_go(Target& target, Time until) {
  const auto call = request(target.server->key, "ping");
  for (std::size_t i = 0; i == 0 || os::now() < until; ++i) {
    const os::Fd fd = connect_to(target.server->endpoint(&kinds::tcp), 2 + i % 3);
    if (fd) (void)::send(fd.get(), call.data(), i % 2 == 0 ? call.size() : call.size() / 2, MSG_NOSIGNAL);
    if (i % 4 == 0) be_called_back(target, i % 8 == 0);
    std::this_thread::sleep_for(5ms);  // sleep: the pace at which they come
  }
}

void kill_clients(Target& target, Time until) {
  do {
    os::ChildProcess client(
        {os::program_beside("corelane-attack-server"), "call", target.server->ior, "-ORBLogLevel", "off"});
    (void)client.read_line();
  } while (os::now() < until);
}

struct Phase {
  std::string name;
  int quarters;  // the length, in quarters of a phase
  Act act;       // none: the calm phase
};

std::vector<Phase> phases() {
  std::vector<Phase> all{
      {"calm", 12, {}},
      {"churn", 4, come_and_go},
      {"kills", 4, kill_clients},
      {"half headers", 4, attack_by([](const Target&) { return held(test::wire("'GIOP' 0102"), 1100); })},
      {"byte hogs", 4, attack_by([](const Target& target) { return held(half_message(target), 12); })},
      {"slow readers", 4, attack_by([](const Target& target) {
         auto slow = plan(several(request(target.server->key, "_get_name"), 16), 4);
         slow.reads = false;
         return slow;
       })},
      {"flood of calls", 1,
       attack_by([](const Target& target) { return plan(several(request(target.server->key, "ping"), 64)); })},
      {"flood of unknown", 1,
       attack_by([](const Target& target) { return plan(several(request(target.server->key, "no_operation"), 64)); })},
      {"flood of oneways", 1, attack_by([](const Target& target) { return plan(several(note_of(target, 100), 64)); })},
      {"long oneways", 1, attack_by([](const Target& target) { return plan(note_of(target, long_message)); })},
  };
  const char* const only = std::getenv("CORELANE_SOAK_ONLY");
  std::erase_if(all, [&](const Phase& phase) {
    return only != nullptr && phase.act && phase.name.find(only) == std::string::npos;
  });
  return all;
}

// ---- What the servers hold ----

using Held = ServerProcess::Held;

Held least(const Held& a, const Held& b) {
  return {std::min(a.descriptors, b.descriptors), std::min(a.threads, b.threads), std::min(a.resident, b.resident)};
}
std::string text_of(const Held& held) {
  return std::to_string(held.descriptors) + " descriptors, " + std::to_string(held.threads) + " threads, " +
         std::to_string(held.resident / mib) + " MiB";
}
// Returns the median of each column.
Held median(std::vector<Held> all) {
  const auto of = [&](auto member) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::ranges::nth_element(all, middle, {}, member);
    return (*middle).*member;
  };
  return {of(&Held::descriptors), of(&Held::threads), of(&Held::resident)};
}

// Returns whether what a server holds stays flat. The first cycle warms up. Of the others, compares the last third with
// the first third.
bool is_flat(const std::vector<Held>& cycles, bool is_long) {
  const std::size_t third = std::max<std::size_t>(1, (cycles.size() - 1) / 3);
  const Held first = median({cycles.begin() + 1, cycles.begin() + 1 + static_cast<std::ptrdiff_t>(third)});
  const Held last = median({cycles.end() - static_cast<std::ptrdiff_t>(third), cycles.end()});
  // A short calm phase ends before threads that serve end, and before a sanitizer gives memory back.
  const std::size_t serving = is_long ? 0 : std::max<std::size_t>(16, 4 * std::thread::hardware_concurrency()) + 1 + 64;
  const std::size_t memory = is_long ? 16 * mib : (CORELANE_ADDRESS_SANITIZER ? 640 : 128) * mib;
  std::printf("first third: %s; last third: %s\n", text_of(first).c_str(), text_of(last).c_str());
  return last.descriptors <= first.descriptors + 8 && last.threads <= first.threads + 8 + serving &&
         last.resident <= first.resident + first.resident / 20 + memory;
}

double cpu_seconds(int whose) {
  rusage usage{};
  getrusage(whose, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

// Limits the freed memory that AddressSanitizer keeps, so that it does not hide leaks.
void keep_little_freed() {
  const char* const given = std::getenv("ASAN_OPTIONS");
  ::setenv("ASAN_OPTIONS", ((given == nullptr ? "" : given + std::string(":")) + "quarantine_size_mb=16").c_str(), 1);
}

}  // namespace

TEST_CASE("a server stays as it is and serves its clients while attacks of every kind take turns") {
  const Length length;
  const Quiet quiet;
  const TempDirectory directory;
  keep_little_freed();
  if (rlimit limit{}; getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  }
  ServerProcess ours({os::program_beside("corelane-attack-server"), "serve", "-ORBRuntimeDirectory", directory / "run",
                      "-ORBLogLevel", "off"});
  std::deque<Target> targets;
  targets.emplace_back(&ours, directory / "run");
  std::vector<Called> called{{"TCP", "add@" + giop::to_string(ours.reference_by(&kinds::tcp))},
                             {"channel", "add@" + ours.ior},
                             {"task", "paced@" + ours.ior}};
  std::optional<ServerProcess> omni;
  if (CORELANE_OMNIORB) {
    omni.emplace(Words{os::program_beside("corelane-attack-omni-server")});
    targets.emplace_back(&*omni, directory / "run");
    called.push_back({"omniORB", "add@" + omni->ior});
  } else {
    std::printf("without omniORB, which was not found (Debian: omniidl libomniorb4-dev)\n");
  }
  for (Target& target : targets) {
    TestOrb client({"-ORBRuntimeDirectory", target.directory});
    target.server->probe_at(client, &kinds::tcp)->name(std::string(mib, 'x'));
  }
  SteadyClients clients(length, called);

  std::printf("calls: answered/failed, p50, p99, max in ms\n");
  const Time begun = os::now();
  std::map<std::string, std::vector<Calls>> sums;
  std::vector<Held> ours_held, omni_held;
  std::size_t failed = 0, silent = 0;
  for (std::size_t cycle = 0; cycle < length.cycles || os::now() < begun + length.total; ++cycle) {
    Held ours_least = ours.held(), omni_least = omni ? omni->held() : Held{};
    std::vector<std::size_t> served(called.size());
    for (const Phase& phase : phases()) {
      const Time until = os::now() + length.phase * phase.quarters / 4;
      {
        std::vector<std::jthread> attackers;
        if (phase.act)
          for (Target& target : targets) attackers.emplace_back([&] { phase.act(target, until); });
        while (!phase.act && os::now() < until) {
          std::this_thread::sleep_for(50ms);  // sleep: another process sends no event
          ours_least = least(ours_least, ours.held());
          if (omni) omni_least = least(omni_least, omni->held());
        }
      }
      const std::vector<Calls> calls = clients.take();
      auto& sum = sums[phase.name];
      sum.resize(calls.size());
      std::printf("[%5.0f s] %2zu %-16s", std::chrono::duration<double>(os::now() - begun).count(), cycle,
                  phase.name.c_str());
      for (std::size_t i = 0; i < calls.size(); ++i) {
        std::printf("  %s %s", called[i].what.c_str(), calls[i].text().c_str());
        sum[i].add(calls[i]);
        served[i] += calls[i].served;
        if (called[i].what != "omniORB") failed += calls[i].failed;
      }
      std::printf("\n");
      std::fflush(stdout);
    }
    ours_held.push_back(ours_least);
    omni_held.push_back(omni_least);
    silent += static_cast<std::size_t>(std::ranges::count(served, 0u));
    std::printf("           %2zu holds: %s", cycle, text_of(ours_least).c_str());
    if (omni) std::printf("; omniORB: %s", text_of(omni_least).c_str());
    std::printf("; jobs, late, us beyond the bound, watched: %s\n", ours.ask("jobs").c_str());
    std::fflush(stdout);
  }

  const double took = std::chrono::duration<double>(os::now() - begun).count();
  std::printf("\nall cycles: answered/failed, p50, p99, max in ms\n");
  for (const Phase& phase : phases()) {
    std::printf("%-16s", phase.name.c_str());
    for (std::size_t i = 0; i < called.size(); ++i)
      std::printf("  %s %s", called[i].what.c_str(), sums[phase.name][i].text().c_str());
    std::printf("\n");
  }
  CHECK(clients.end());
  CHECK(failed == 0);
  CHECK(silent == 0);
  CHECK((targets[0].called_back > 0 || std::getenv("CORELANE_SOAK_ONLY") != nullptr));
  CHECK(targets[0].not_called_back == 0);
  CHECK(is_flat(ours_held, length.total > 10min));
  if (omni) {
    std::printf("omniORB: ");
    (void)is_flat(omni_held, true);
  }
  CHECK(ours.is_alive());
  CHECK(ours.end().ok());
  omni.reset();
  const double self = cpu_seconds(RUSAGE_SELF), children = cpu_seconds(RUSAGE_CHILDREN);
  std::printf("%.0f s, %zu cycles; %.2f cores on average, %.2f of them of this process\n", took, ours_held.size(),
              (self + children) / took, self / took);
}

}  // namespace corelane::attack
