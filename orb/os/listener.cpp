#include "orb/os/listener.h"

#include <sys/socket.h>

#include "orb/os/fd.h"
#include "orb/os/files/small_file.h"
#include "orb/os/socket_path.h"

namespace corelane::os {
namespace {

constexpr std::size_t longest_stat = 4096;

// Returns the process that listens there; 0 if it is not known.
int listener_at(const std::string& path) {
  const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto address = unix_address(path);
  if (!probe || !address) return 0;
  if (::connect(probe.get(), address->generic(), address->length) != 0) return 0;
  ucred peer{};
  socklen_t length = sizeof peer;
  return ::getsockopt(probe.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.pid : 0;
}

}  // namespace

// Reads the third field, after the name in brackets, which may have brackets itself; see proc_pid_stat(5).
bool is_stopped(int pid) {
  const auto stat = read_small_file("/proc/" + std::to_string(pid) + "/stat", longest_stat);
  if (!stat) return false;
  const std::size_t state = stat->rfind(") ");
  return state != stat->npos && state + 2 < stat->size() && ((*stat)[state + 2] == 'T' || (*stat)[state + 2] == 't');
}

std::optional<StoppedListener> stopped_listener(std::span<const std::string> paths) {
  for (const std::string& path : paths)
    if (const int pid = listener_at(path); pid > 0 && is_stopped(pid)) return StoppedListener{pid, path};
  return std::nullopt;
}

std::string to_string(const StoppedListener& listener) {
  return "process " + std::to_string(listener.pid) + " listens at " + listener.path + ", but it is stopped";
}

std::string go_on_command(int pid) { return "kill -CONT " + std::to_string(pid); }

}  // namespace corelane::os
