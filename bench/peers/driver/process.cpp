#include "bench/peers/driver/process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "bench/peers/driver/summary.h"

namespace peers {

void end_with_parent() { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }

void announce(const std::string& address) {
  std::printf("READY %s\n", address.c_str());
  std::fflush(stdout);
}

void serve_until_killed() {
  for (;;) ::pause();
}

std::int64_t cpu_time_of(std::int64_t pid) {
  clockid_t clock{};
  timespec time{};
  if (pid == 0 || ::clock_getcpuclockid(static_cast<pid_t>(pid), &clock) != 0) return 0;
  if (::clock_gettime(clock, &time) != 0) return 0;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

int fail(const std::string& fault) {
  std::printf("%s\n", Record{}.add("error", fault).text().c_str());
  std::fflush(stdout);
  return 1;
}

}  // namespace peers
