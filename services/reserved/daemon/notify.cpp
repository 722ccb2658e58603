#include "services/reserved/daemon/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "orb/os/fd.h"

namespace corelane::reserved {

bool notify_manager(const std::string& state) {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  const std::size_t length = path == nullptr ? 0 : std::strlen(path);
  if (length < 2 || length >= sizeof address.sun_path) return false;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = '\0';  // abstract socket name
  const os::Fd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  return fd && sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
                      size) == static_cast<ssize_t>(state.size());
}

Duration watchdog_period() {
  const char* const text = std::getenv("WATCHDOG_USEC");
  if (text == nullptr) return {};
  const char* const pid = std::getenv("WATCHDOG_PID");
  if (pid != nullptr && std::string_view(pid) != std::to_string(getpid())) return {};
  std::int64_t micros = 0;
  const std::string_view digits(text);
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), micros);
  if (fault != std::errc{} || end != digits.data() + digits.size() || micros <= 0) return {};
  return std::chrono::microseconds{micros};
}

}  // namespace corelane::reserved
