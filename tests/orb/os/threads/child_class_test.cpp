// Tests that what a bound real-time thread starts is ordinary. Its class is reset, however the process or thread is
// started. A child in which code of ours runs may also run on all cores.
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include "orb/base/sanitizer.h"
#include "orb/os/machine/cpu_mask.h"
#include "orb/os/machine/topology.h"
#include "orb/os/privileges.h"
#include "orb/os/thread.h"
#include "orb/os/threads/core_isolation.h"

extern char** environ;

namespace child_class_test {

using namespace corelane;
using namespace corelane::os;

namespace {

// What a child saw of itself.
struct Seen {
  int policy = -1;
  int cores = 0;

  friend std::ostream& operator<<(std::ostream& out, const Seen& seen) {
    return out << "policy " << seen.policy << " on " << seen.cores << " cores";
  }
  friend bool operator==(const Seen&, const Seen&) = default;
};

// Returns how many cores a mask has. /proc writes it as hexadecimal words between commas.
int cores_in(const std::string& mask) {
  int count = 0;
  for (const char digit : mask)
    if (digit != ',') count += __builtin_popcount(static_cast<unsigned>(std::stoi(std::string(1, digit), nullptr, 16)));
  return count;
}

// In /proc/PID/stat, the 41st word is the policy. The second word is in brackets.
Seen parsed(const std::string& text) {
  Seen seen;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("Cpus_allowed:", 0) == 0) seen.cores = cores_in(line.substr(line.find_first_not_of(" \t", 13)));
    const auto behind_name = line.rfind(") ");
    if (behind_name == line.npos) continue;
    std::istringstream words(line.substr(behind_name + 2));
    std::string word;
    for (int i = 3; i <= 41; ++i) words >> word;
    seen.policy = std::stoi(word);
  }
  return seen;
}

constexpr const char* tells = "cat /proc/self/stat /proc/self/status";

std::string all_of(int fd) {
  std::string text;
  char piece[4096];
  for (ssize_t got = 0; (got = read(fd, piece, sizeof piece)) > 0;) text.append(piece, static_cast<std::size_t>(got));
  close(fd);
  return text;
}

struct Ends {
  Ends() { REQUIRE(pipe(fd) == 0); }
  int fd[2];
};

Seen by_popen() {
  FILE* const pipe = popen(tells, "r");
  if (pipe == nullptr) return {};
  std::string text;
  char piece[4096];
  while (const std::size_t got = fread(piece, 1, sizeof piece, pipe)) text.append(piece, got);
  pclose(pipe);
  return parsed(text);
}

Seen by_system() {
  const Ends ends;
  const std::string command = std::string(tells) + " >&" + std::to_string(ends.fd[1]);
  const int status = std::system(command.c_str());
  close(ends.fd[1]);
  const std::string text = all_of(ends.fd[0]);
  return status == 0 ? parsed(text) : Seen{};
}

std::array<char*, 4> shell_arguments() {
  static std::string shell = "sh", option = "-c", command = tells;
  return {shell.data(), option.data(), command.data(), nullptr};
}

Seen awaited(pid_t child, const Ends& ends) {
  close(ends.fd[1]);
  const std::string text = all_of(ends.fd[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return parsed(text);
}

Seen by_posix_spawn() {
  const Ends ends;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends.fd[1], STDOUT_FILENO);
  pid_t child = -1;
  auto arguments = shell_arguments();
  const int failure = posix_spawn(&child, "/bin/sh", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failure == 0 ? awaited(child, ends) : Seen{};
}

Seen by_vfork() {
  const Ends ends;
  auto arguments = shell_arguments();
  const pid_t child = vfork();
  if (child == 0) {
    dup2(ends.fd[1], STDOUT_FILENO);
    execve("/bin/sh", arguments.data(), environ);
    _exit(127);
  }
  return awaited(child, ends);
}

Seen seen_here() {
  CpuMask mask;
  sched_getaffinity(0, CpuMask::native_size, mask.native());
  return {sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, CPU_COUNT_S(CpuMask::native_size, mask.native())};
}

// Runs no other program: the child looks right after fork().
Seen by_fork() {
  const Ends ends;
  const pid_t child = fork();
  if (child == 0) {
    const Seen seen = seen_here();
    const bool told = write(ends.fd[1], &seen, sizeof seen) == sizeof seen;
    _exit(told ? 0 : 1);
  }
  close(ends.fd[1]);
  Seen seen;
  const std::string bytes = all_of(ends.fd[0]);
  if (bytes.size() == sizeof seen) std::memcpy(&seen, bytes.data(), sizeof seen);
  int status = 0;
  waitpid(child, &status, 0);
  return seen;
}

Seen by_thread() {
  Seen seen;
  std::thread([&] { seen = seen_here(); }).join();
  return seen;
}

struct Way {
  const char* name;
  Seen (*seen)();
  bool leaves_core;  // the child leaves the core by itself
};
// ThreadSanitizer replaces vfork() by fork(), which runs the handlers.
#if CORELANE_THREAD_SANITIZER
constexpr bool vfork_forks = true;
#else
constexpr bool vfork_forks = false;
#endif
constexpr Way ways[] = {{"fork", by_fork, true},          {"posix_spawn", by_posix_spawn, false},
                        {"popen", by_popen, false},       {"system", by_system, false},
                        {"vfork", by_vfork, vfork_forks}, {"std::thread", by_thread, false}};

CoreId some_core() {
  CoreId core{0};
  while (!process_affinity().contains(core)) ++core.value;
  return core;
}

int all_cores() { return CPU_COUNT_S(CpuMask::native_size, process_affinity().native()); }

}  // namespace

TEST_CASE(
    "a thread or process that a bound real-time thread starts is ordinary, and a forked child may run on all cores") {
  if (!privileges().fifo)
    std::cout << "SKIPPED in part: no privilege for SCHED_FIFO, so only the cores are looked at\n";
  for (const Way& way : ways) {
    INFO(way.name);
    Seen seen;
    auto thread =
        start_thread({.name = "starter", .core = some_core(), .fifo_priority = 2}, [&] { seen = way.seen(); });
    REQUIRE(thread);
    thread->join();
    CHECK(seen == Seen{SCHED_OTHER, way.leaves_core ? all_cores() : 1});
  }
}

TEST_CASE("a thread that was bound by itself or by another thread lets its children go, too") {
  Seen seen;
  auto thread = start_thread({.name = "starter", .fifo_priority = 2}, [&] {
    REQUIRE(bind_this_thread(some_core()));
    seen = by_fork();
  });
  REQUIRE(thread);
  thread->join();
  CHECK(seen == Seen{SCHED_OTHER, all_cores()});

  std::atomic<bool> bound{false};
  thread = start_thread({.name = "starter", .fifo_priority = 2}, [&] {
    bound.wait(false);
    seen = by_fork();
  });
  REQUIRE(thread);
  REQUIRE(thread->bind(some_core()));
  bound = true;
  bound.notify_one();
  thread->join();
  CHECK(seen == Seen{SCHED_OTHER, all_cores()});
}

TEST_CASE("a child keeps the core that the application bound its thread to") {
  CpuMask mask;
  mask.add(some_core());
  Seen seen;
  std::thread([&] {
    sched_setaffinity(0, CpuMask::native_size, mask.native());
    seen = by_fork();
  }).join();
  CHECK(seen == Seen{SCHED_OTHER, 1});
}

TEST_CASE("a child does not get a core that is kept for bound threads") {
  if (all_cores() < 2) return static_cast<void>(std::cout << "SKIPPED: one core\n");
  const CoreIsolation kept(some_core());
  Seen seen;
  auto thread = start_thread({.name = "starter", .core = some_core()}, [&] { seen = by_fork(); });
  REQUIRE(thread);
  thread->join();
  CHECK(seen == Seen{SCHED_OTHER, all_cores() - 1});
}

TEST_CASE("a priority for a while leaves a thread's children as it found them") {
  if (!privileges().fifo) return static_cast<void>(std::cout << "SKIPPED: no privilege for SCHED_FIFO\n");
  int before = -1, meanwhile = -1, after = -1;
  Seen seen;
  // The thread that starts others does not belong to the ORB. A real-time thread started it.
  auto outer = start_thread({.name = "outer", .fifo_priority = 3}, [&] {
    std::thread([&] {
      before = sched_getscheduler(0);
      {
        const PriorityScope raised(3);
        meanwhile = sched_getscheduler(0);
        seen = by_thread();
      }
      after = sched_getscheduler(0);
    }).join();
  });
  REQUIRE(outer);
  outer->join();
  CHECK(before == SCHED_OTHER);
  CHECK(meanwhile == (SCHED_FIFO | SCHED_RESET_ON_FORK));
  CHECK(seen.policy == SCHED_OTHER);
  CHECK(after == SCHED_OTHER);
}

namespace {

// Changes the calling thread alone.
bool give_up_right_to_priorities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[2] = {};
  if (syscall(SYS_capget, &header, data) != 0) return false;
  data[0].effective &= ~(1U << CAP_SYS_NICE);
  return syscall(SYS_capset, &header, data) == 0;
}

}  // namespace

TEST_CASE("a thread that may not give the reset back leaves SCHED_FIFO with it") {
  if (!privileges().fifo) return static_cast<void>(std::cout << "SKIPPED: no privilege for SCHED_FIFO\n");
  int policy = -1;
  auto thread = start_thread({.name = "poor", .fifo_priority = 3}, [&] {
    REQUIRE(give_up_right_to_priorities());
    const PriorityScope below = PriorityScope::ordinary();
    policy = sched_getscheduler(0);
  });
  REQUIRE(thread);
  thread->join();
  CHECK(policy == (SCHED_OTHER | SCHED_RESET_ON_FORK));
}

}  // namespace child_class_test
