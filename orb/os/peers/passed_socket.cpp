#include "orb/os/peers/passed_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>

#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/mutex.h"
#include "orb/os/peers/passed_descriptors.h"

namespace corelane::os {
namespace {

constexpr int first_passed = 3;    // SD_LISTEN_FDS_START
constexpr int most_passed = 1024;  // a unit has a few

std::optional<int> number_in_environment(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  int number = 0;
  const std::string_view digits(text);
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (fault != std::errc{} || end != digits.data() + digits.size() || number < 0) return std::nullopt;
  return number;
}

bool says(int fd, int option, int expected) {
  int value = 0;
  socklen_t size = sizeof value;
  return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 && value == expected;
}

bool listens_at(int fd, const std::string& path) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.sun_family != AF_UNIX) return false;
  const std::size_t length = size - offsetof(sockaddr_un, sun_path);
  return path == std::string_view(address.sun_path, strnlen(address.sun_path, length)) && says(fd, SO_ACCEPTCONN, 1) &&
         says(fd, SO_TYPE, SOCK_STREAM);
}

}  // namespace

Fd take_passed_socket(const std::string& path) {
  static Mutex mutex;
  static std::set<int> taken CORELANE_GUARDED_BY(mutex);  // after a close, the number may belong to another file
  const LockGuard lock(mutex);
  if (number_in_environment("LISTEN_PID") != getpid()) return Fd{};
  const int said = number_in_environment("LISTEN_FDS").value_or(0);
  const int end = first_passed + std::min(said, most_passed);
  for (int fd = first_passed; fd < end; ++fd) {  // skips those that are not open
    if (taken.contains(fd) || !listens_at(fd, path)) continue;
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) return Fd{};
    refuse_descriptors(fd);  // for new connections; those that wait already may have sent some
    taken.insert(fd);
    return Fd(fd);
  }
  return Fd{};
}

}  // namespace corelane::os
