// The ledger of one host in a directory of the test's own, and servers that use it, in this process and in others.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orb/dispatch/leases/host_ledger.h"
#include "orb/sched/task.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

namespace corelane::dispatch::ledger_test {

class Directory {
 public:
  const std::string& path() const { return place_.path(); }
  std::string file() const { return place_ / "ledger"; }

  void overwrite(std::size_t offset, std::size_t length) const {
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(offset));
    stream << std::string(length, '\x5a');
  }

 private:
  const testing::TempDirectory place_;
  const testing::Quiet quiet_;  // the tests damage the ledger on purpose
};

inline os::Topology machine(const char* description = "core:4 pu:1") { return *os::Topology::synthetic(description); }

inline std::unique_ptr<HostLedger> open(const Directory& directory, const char* description = "core:4 pu:1") {
  auto ledger = HostLedger::open(machine(description), directory.path());
  REQUIRE(ledger);
  return std::move(*ledger);
}

inline Promise promise(int core, Duration budget, Duration period = std::chrono::milliseconds{10}) {
  return {.core = CoreId{static_cast<std::int16_t>(core)},
          .physical_core = core,
          .contract = make_contract(period, budget)};
}

// Returns what others have promised, in ppm over all cores; -1: no transaction opens.
inline sched::Ppm others_of(HostLedger& ledger) {
  const auto others = ledger.begin();
  if (!others) return -1;
  sched::Ppm sum = 0;
  for (const Promise& p : *others) sum += p.contract.budget.count() * sched::whole_core / p.contract.period.count();
  ledger.abandon();
  return sum;
}

// Opens a transaction although another process does not end its own.
inline void begin_in_the_end(HostLedger& ledger) {
  while (!ledger.begin()) continue;  // bound: HostLedger::longest_wait
}

// A server in its own process. It does what the test says, and answers with a letter as often as it likes.
class ChildLedger {
 public:
  using Answer = std::function<void(bool)>;  // true: y, false: n
  template <typename Work>
  ChildLedger(const Directory& directory, Work work) {
    REQUIRE(pipe(answers_) == 0);
    pid_ = fork();
    if (pid_ != 0) return;
    const auto ledger = HostLedger::open(machine(), directory.path());
    const Answer answer = [this](bool good) { (void)!write(answers_[1], good ? "y" : "n", 1); };
    if (ledger) work(**ledger, answer);
    for (;;) pause();
  }
  ChildLedger(const ChildLedger&) = delete;
  ChildLedger& operator=(const ChildLedger&) = delete;
  ~ChildLedger() {
    kill_now();
    close(answers_[0]);
    close(answers_[1]);
  }

  char answer() {
    char letter = 0;
    REQUIRE(read(answers_[0], &letter, 1) == 1);
    return letter;
  }
  void wait_until_stopped() {
    int status = 0;
    REQUIRE(waitpid(pid_, &status, WUNTRACED) == pid_);
    REQUIRE(WIFSTOPPED(status));
  }
  void go_on() { kill(pid_, SIGCONT); }
  void kill_now() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  int answers_[2]{};
  pid_t pid_ = 0;
};

inline void promise_all(HostLedger& ledger, std::vector<Promise> mine) {
  REQUIRE(ledger.begin());
  REQUIRE(ledger.end(mine));
}

}  // namespace corelane::dispatch::ledger_test
