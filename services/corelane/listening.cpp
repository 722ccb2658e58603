#include "services/corelane/listening.h"

#include <sys/socket.h>

#include "orb/os/fd.h"
#include "orb/os/socket_path.h"
#include "services/corelane/host_files.h"

namespace corelane::tool {
namespace {

// The third field, behind the name in brackets, which may have any in it; see proc_pid_stat(5).
bool is_stopped(int pid) {
  const std::string stat = HostFiles().text_or_empty("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t state = stat.rfind(") ");
  return state != stat.npos && (stat[state + 2] == 'T' || stat[state + 2] == 't');
}

}  // namespace

Listening listening_at(const std::vector<std::string>& sockets) {
  for (const std::string& path : sockets) {
    const os::Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto address = os::unix_address(path);
    if (!probe || !address || ::connect(probe.get(), address->generic(), address->length) != 0) continue;
    ucred peer{};
    socklen_t length = sizeof peer;
    const bool known = ::getsockopt(probe.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.pid > 0;
    return {.at = path, .pid = known ? peer.pid : 0, .stopped = known && is_stopped(peer.pid)};
  }
  return {};
}

std::string stopped_text(const Listening& daemon) {
  if (!daemon.stopped) return {};
  return "process " + std::to_string(daemon.pid) + " listens at " + daemon.at + ", but it is stopped";
}

std::string go_on_command(const Listening& daemon) { return "kill -CONT " + std::to_string(daemon.pid); }

}  // namespace corelane::tool
