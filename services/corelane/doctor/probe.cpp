#include "services/corelane/doctor/probe.h"

#include <linux/futex.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "orb/dispatch/leases/host_ledger.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/os/files/directory.h"
#include "orb/os/peers/own_user.h"
#include "orb/os/privileges.h"
#include "orb/os/process/child_process.h"
#include "orb/os/thread.h"
#include "orb/os/threads/scheduling_class.h"

namespace corelane::tool {
namespace {

int try_deadline() {
  int fault = EAGAIN;
  auto thread = os::start_thread({.name = "corelane-probe", .stack = 64 * 1024}, [&fault] {
    fault = os::set_deadline_class(0, std::chrono::milliseconds{1}, std::chrono::milliseconds{100});
  });
  if (thread) thread->join();
  return fault;
}

int try_memfd() {
  const os::Fd file(::memfd_create("corelane-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  return file.get() >= 0 ? 0 : errno;
}

// Tries a futex on which no thread waits: the kernel answers at once that the word has another value.
int try_futex() {
  std::uint32_t word = 1;
  const long answer = ::syscall(SYS_futex, &word, FUTEX_WAIT, 0, nullptr, nullptr, 0);
  return answer == 0 || errno == EAGAIN ? 0 : errno;
}

Duration timer_resolution() {
  timespec resolution{};
  if (::clock_getres(CLOCK_MONOTONIC, &resolution) != 0) return std::chrono::seconds{1};
  return std::chrono::seconds{resolution.tv_sec} + std::chrono::nanoseconds{resolution.tv_nsec};
}

std::string kernel_config() {
  utsname system{};
  if (::uname(&system) != 0) return {};
  const std::string boot = HostFiles().text_or_empty(std::string("/boot/config-") + system.release);
  if (!boot.empty() || ::access("/proc/config.gz", R_OK) != 0) return boot;
  try {
    return os::ChildProcess({"gzip", "-cd", "/proc/config.gz"})
        .read_all(os::now() + std::chrono::seconds{5})
        .value_or("");
  } catch (const std::system_error&) {
    return {};  // no gzip
  }
}

std::string user_name() {
  const passwd* const entry = ::getpwuid(::geteuid());
  return entry != nullptr ? entry->pw_name : std::to_string(::geteuid());
}

}  // namespace

std::string fault_of_runtime_directory(const std::string& directory) {
  struct stat found {};
  if (::lstat(directory.c_str(), &found) != 0) {
    const std::string above = std::filesystem::path(directory).parent_path();
    if (errno == ENOENT && ::access(above.c_str(), W_OK | X_OK) == 0) return {};
    return directory + " cannot be made: " + above + ": " + std::strerror(errno);
  }
  if (!S_ISDIR(found.st_mode)) return directory + " is " + os::kind_of_file(found.st_mode) + ", no directory";
  if (found.st_uid != ::geteuid() && found.st_uid != 0)
    return directory + " belongs to user " + std::to_string(found.st_uid) + ", neither to this user nor to root";
  if (::access(directory.c_str(), W_OK | X_OK) != 0) return directory + ": " + std::strerror(errno);
  return {};
}

ProbedFacts probe(const ProbedPlaces& places) {
  const os::Privileges& privileges = os::privileges();
  return {.root = os::runs_as_root(),
          .user = user_name(),
          .fifo = privileges.fifo,
          .fifo_group_zero = privileges.fifo_group_zero,
          .memlock = privileges.memlock,
          .deadline_fault = try_deadline(),
          .memfd_fault = try_memfd(),
          .futex_fault = try_futex(),
          .timer_resolution = timer_resolution(),
          .kernel_config = kernel_config(),
          .runtime_directory = places.runtime_directory,
          .runtime_is_there = ::access(places.runtime_directory.c_str(), F_OK) == 0,
          .nameserver = listening_at(places.nameserver, places.trusted),
          .reserved = listening_at(places.reserved),
          .nameserver_places = places.nameserver,
          .reserved_places = places.reserved,
          .start_options = places.start_options,
          .runtime_fault = fault_of_runtime_directory(places.runtime_directory),
          .runtime_remark = dispatch::runtime_directory_remark()};
}

}  // namespace corelane::tool
