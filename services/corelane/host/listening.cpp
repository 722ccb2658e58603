#include "services/corelane/host/listening.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "orb/os/fd.h"
#include "orb/os/listener.h"
#include "orb/os/peers/peer_trust.h"
#include "orb/os/socket_path.h"

namespace corelane::tool {
namespace {

bool is_socket(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode);
}

// Interprets a refused connection.
Listening refused_at(const std::string& path, int failure) {
  if (failure == EAGAIN) return {.at = path};  // the queue of pending connections is full
  if (failure == EACCES && is_socket(path)) return {.at = path, .fault = "does not let this user in"};
  return {};
}

Listening look_at(const std::string& path, const channel::Access& trusted) {
  const os::Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto address = os::unix_address(path);
  if (!probe || !address) return {};
  if (::connect(probe.get(), address->generic(), address->length) != 0) return refused_at(path, errno);
  ucred peer{};
  socklen_t length = sizeof peer;
  const bool known = ::getsockopt(probe.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.pid > 0;
  const auto why = trusted.anyone ? std::nullopt : os::why_not_trusted(probe.get(), trusted.users);
  return {.at = path, .pid = known ? peer.pid : 0, .stopped = known && is_stopped(peer.pid), .fault = why.value_or("")};
}

}  // namespace

bool is_stopped(int pid) { return os::is_stopped(pid); }

Listening listening_at(const std::vector<std::string>& sockets, const channel::Access& trusted) {
  Listening other;
  for (const std::string& path : sockets) {
    Listening found = look_at(path, trusted);
    if (found) return found;
    if (other.at.empty()) other = std::move(found);
  }
  return other;
}

std::string fault_text(const Listening& daemon) {
  if (daemon.fault.empty()) return {};
  return (daemon.pid == 0 ? "the socket " : "process " + std::to_string(daemon.pid) + " at ") + daemon.at + " " +
         daemon.fault + ", so it is not used";
}

std::string stopped_text(const Listening& daemon) {
  if (!daemon.stopped) return {};
  return to_string(os::StoppedListener{daemon.pid, daemon.at});
}

std::string go_on_command(const Listening& daemon) { return os::go_on_command(daemon.pid); }

}  // namespace corelane::tool
