#include "orb/os/socket_path.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/os/file_lock.h"
#include "orb/os/files/directory.h"
#include "orb/os/machine/host.h"
#include "orb/os/peers/passed_descriptors.h"

namespace corelane::os {
namespace {

using errors::address_in_use;
using errors::bad_address;
using errors::no_descriptor;
constexpr Error system_refused{.kind = ErrorKind::bad_param, .minor = minor::system_refused};

constexpr std::string_view lock_suffix = ".lock";
constexpr std::string_view chosen_suffix = ".sock";
constexpr int choices = 256;         // names tried in one directory
constexpr int swept_at_once = 4096;  // most lock files that one sweep handles

std::string lock_path(const std::string& path) { return path + std::string(lock_suffix); }

PathRefusal refusal(Error error, const std::string& path, const std::string& why) { return {error, path, why}; }

// Returns the first missing directory on the way to the path; empty if all exist.
std::string missing_directory(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != path.npos; slash = path.find('/', slash + 1)) {  // bound: path
    struct stat found {};
    const std::string directory = path.substr(0, slash);
    if (stat(directory.c_str(), &found) != 0 && errno == ENOENT) return directory;
  }
  return {};
}

// `file`: the file that should have been opened or made.
PathRefusal system_refusal(const std::string& path, const std::string& file, const std::string& what, int number) {
  if (number == EMFILE || number == ENFILE)
    return refusal(no_descriptor, path, "this process gets no further descriptor; raise ulimit -n");
  if (const std::string directory = missing_directory(path); number == ENOENT && !directory.empty())
    return refusal(system_refused, path, "the directory " + directory + " does not exist");
  const std::string owner = number == EACCES || number == EPERM ? ownership_text(file) : "";
  return refusal(system_refused, path,
                 what + ": " + std::strerror(number) +
                     (owner.empty() ? "; the directory has to exist and this user to write there" : owner));
}

enum class Found { nothing, left_behind, in_use, no_socket, unknown };

// Finds out what is at the path. Only a refused connection proves that no server listens.
Found found_at(const std::string& path) noexcept {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return Found::nothing;
  if (!S_ISSOCK(found.st_mode)) return Found::no_socket;
  const Fd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto address = unix_address(path);
  if (!probe || !address) return Found::unknown;
  if (connect(probe.get(), address->generic(), address->length) == 0) return Found::in_use;
  return errno == ECONNREFUSED ? Found::left_behind : errno == ENOENT ? Found::nothing : Found::in_use;
}

// "<digits>.<digits>.sock"
bool is_chosen_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == name.npos || !name.ends_with(chosen_suffix)) return false;
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  };
  const std::string_view rest = name.substr(dot + 1);
  return is_number(name.substr(0, dot)) && is_number(rest.substr(0, rest.find('.'))) &&
         rest.find('.') == rest.size() - chosen_suffix.size();
}

// Removes what dead servers left. A successful claim proves that the owner is gone; when the claim ends, it removes
// both files.
void sweep(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code failure;
  for (std::filesystem::directory_iterator entry(directory, failure), end; !failure && entry != end;
       entry.increment(failure)) {  // bound: swept_at_once
    const std::string name = entry->path().filename();
    if (name.ends_with(lock_suffix) &&
        is_chosen_name(std::string_view(name).substr(0, name.size() - lock_suffix.size())))
      names.push_back(name.substr(0, name.size() - lock_suffix.size()));
    if (names.size() == swept_at_once) break;
  }
  for (const std::string& name : names) (void)SocketPath::claim(directory + "/" + name);
}

// Returns a random number, so that a socket's path is never used twice. Another process may later have the same pid,
// also in another namespace. A reference to a socket of this process must not lead to it. If the system gives no random
// number, it returns a count that is unique in this process.
std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> names{0};
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) == sizeof number) return number;
  return names.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: only uniqueness counts
}

std::string next_name(const std::string& directory) {
  const std::uint64_t number = next_number();
  return directory + "/" + std::to_string(getpid()) + "." + std::to_string(number) + std::string(chosen_suffix);
}

PathRefusal somebody_listens(const std::string& path) {
  const std::string how = is_plain_path(path) ? " (`ss -lxp src " + path + "` shows which)" : "";
  return refusal(address_in_use, path, "another program listens there" + how + "; take another path");
}

PathRefusal lock_refusal(const std::string& path, const ClaimFault& fault) {
  switch (fault.kind) {
    case ClaimFault::Kind::held:
      return somebody_listens(path);
    case ClaimFault::Kind::foreign:
      return refusal(address_in_use, path,
                     lock_path(path) + " is there and no lock of a server's; remove it or take another path");
    case ClaimFault::Kind::failed:
      break;
  }
  return system_refusal(path, lock_path(path), lock_path(path), fault.number);
}

}  // namespace

std::optional<UnixAddress> unix_address(const std::string& path) noexcept {
  const bool abstract = path.starts_with('@');
  if (path.size() < 2 || path.size() > longest_unix_path || path.find('\0') != path.npos) return std::nullopt;
  if (!abstract && path.front() != '/') return std::nullopt;
  UnixAddress address;
  address.native.sun_family = AF_UNIX;
  path.copy(address.native.sun_path, longest_unix_path);
  if (abstract) address.native.sun_path[0] = '\0';
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (abstract ? 0 : 1));
  return address;
}

Expected<SocketPath, PathRefusal> SocketPath::claim(std::string path) {
  if (!path.starts_with('/')) return refusal(bad_address, path, "a socket's path is absolute: begin it with /");
  if (path.ends_with('/')) return refusal(bad_address, path, "a socket's path ends with its name, not with a slash");
  if (!unix_address(path))
    return refusal(bad_address, path,
                   "a socket's path has at most " + std::to_string(longest_unix_path) +
                       " bytes, the system's limit; this one has " + std::to_string(path.size()) +
                       ": take a shorter directory");
  auto lock = claim_file(lock_path(path).c_str());
  if (!lock) return lock_refusal(path, lock.error());
  OwnFile own_lock(lock_path(path), std::move(*lock));
  SocketPath claimed(std::move(path), std::move(own_lock));
  switch (found_at(claimed.path_)) {
    case Found::nothing:
      break;
    case Found::left_behind:
      if (unlink(claimed.path_.c_str()) == 0 || errno == ENOENT) break;
      return system_refusal(claimed.path_, claimed.path_, "the socket of a server that ended cannot be removed", errno);
    case Found::in_use:
      return somebody_listens(claimed.path_);
    case Found::no_socket:
      return refusal(address_in_use, claimed.path_,
                     "a file is there that is no socket; remove it or take another path");
    case Found::unknown:
      return system_refusal(claimed.path_, claimed.path_, "the system does not tell whether a process listens there",
                            errno);
  }
  return claimed;
}

Expected<SocketPath, PathRefusal> SocketPath::choose(const std::string& directory) {
  if (const auto ready = make_directory(directory); !ready)
    return refusal(bad_address, directory, ready.error() + "; set runtime.directory");
  sweep(directory);
  std::optional<PathRefusal> last;
  for (int i = 0; i < choices; ++i) {
    auto claimed = claim(next_name(directory));
    if (claimed || claimed.error().error.minor != minor::address_in_use) return claimed;
    last = claimed.error();
  }
  return *last;
}

Expected<Fd, PathRefusal> SocketPath::listen(mode_t mode, int type) {
  Fd fd(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_refusal(path_, path_, "no socket", errno);
  // No peer may send descriptors over a stream. Set before listen(), so that it holds for all accepted connections.
  if (type == SOCK_STREAM) refuse_descriptors(fd.get());
  const auto address = unix_address(path_);
  std::string bound_path = path_;  // allocated first, so that a failure leaves no file behind
  // bind() makes the file with the socket's mode, less the umask. So it is never more open than requested.
  if (!address || fchmod(fd.get(), mode) != 0 || bind(fd.get(), address->generic(), address->length) != 0) {
    if (errno == EADDRINUSE) return somebody_listens(path_);
    return system_refusal(path_, path_, "bind", errno);
  }
  Fd file(open(path_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));  // while it is open, no other file can get its inode
  if (file && chmod(path_.c_str(), mode) == 0 && ::listen(fd.get(), SOMAXCONN) == 0) {
    bound_.emplace(std::move(bound_path), std::move(file));
    return fd;
  }
  const int why = errno;
  unlink(path_.c_str());  // this call made it, under the lock
  return system_refusal(path_, path_, "listen", why);
}

}  // namespace corelane::os
