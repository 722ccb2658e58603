#include "services/nameserver/stores/http/socket_wait.h"

#include <poll.h>

#include <algorithm>
#include <array>

#include "orb/os/clock.h"

namespace corelane::nameserver {

SocketWait wait_for_socket(int socket, short events, int stop, Time deadline) {
  constexpr Duration longest = std::chrono::seconds{60};  // of one poll(), which takes an int
  while (true) {
    std::array<pollfd, 2> watched{pollfd{socket, events, 0}, pollfd{stop, POLLIN, 0}};
    const Duration left = deadline == never ? longest : std::clamp(deadline - os::now(), Duration{0}, longest);
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    poll(watched.data(), watched.size(), static_cast<int>(milliseconds));
    if (watched[1].revents != 0) return SocketWait::stopped;
    if (watched[0].revents != 0) return SocketWait::ready;
    if (deadline != never && os::now() >= deadline) return SocketWait::too_late;
  }
}

}  // namespace corelane::nameserver
