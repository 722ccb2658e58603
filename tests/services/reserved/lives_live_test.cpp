// Random lives and deaths of processes on cpusets of this kernel, cgroup v1. CORELANE_SEQUENCES=1000 runs a thousand
// sequences.
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/services/reserved/daemon_inside.h"
#include "tests/services/reserved/random_lives.h"
#include "tests/vm/machine_picture.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

// Waits for orphans: this process is the first of its namespace, so it is the new parent of processes whose parent has
// ended.
void reap_orphans() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {  // bound: the processes that have ended
  }
}

std::string live(const LiveCpusets& at, int wanted) {
  Sleeper bound, loose;
  reserved::HostProcesses().set_affinity(bound.pid(), {at.cores[1]});
  const auto picture = [&] {
    return MachinePicture::taken_of({at.cpuset.absolute(at.root), at.cpu.absolute(at.root)});
  };
  const auto before = picture();
  // The test's cpuset is not exclusive, so SCHED_DEADLINE is not possible.
  RandomLives lives({.options = options_of(at), .cores = at.cores.size(), .thread_shares = false});
  std::string fault;
  int done = 0;
  for (; done < wanted && fault.empty(); ++done) {
    fault = lives.live();
    reap_orphans();
    if (done % 20 != 19 || !fault.empty()) continue;
    if (const auto status = lives.end(); status != "exit status 0") fault = status;
    fault += before.difference(picture());
    lives.start();
  }
  if (const auto status = lives.end(); status != "exit status 0") fault += status;
  fault += before.difference(picture());
  std::cout << done << " sequences by cgroup-v1: " << lives.counts() << std::endl;
  return fault.empty() ? fault : "sequence " + std::to_string(done) + ": " + fault;
}

}  // namespace

TEST_CASE("no core is lost in random lives and deaths on this kernel, and the cpuset is as it was found") {
  check_inside([](const LiveCpusets& at) { return live(at, sequences_wanted(50)); });
}
