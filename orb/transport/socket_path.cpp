#include "orb/transport/detail/socket_path.h"

#include <fcntl.h>
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

#include "orb/base/minor.h"
#include "orb/os/file_lock.h"
#include "orb/transport/detail/address.h"
#include "orb/transport/endpoint.h"

namespace corelane::transport {
namespace {

constexpr Error taken{.kind = ErrorKind::comm_failure, .minor = minor::address_in_use};
constexpr Error unusable{.kind = ErrorKind::bad_param, .minor = minor::bad_address};

constexpr std::string_view lock_suffix = ".lock";
constexpr std::string_view chosen_suffix = ".sock";
constexpr int choices = 256;         // names tried in one directory
constexpr int swept_at_once = 4096;  // entries of a directory looked at

std::string lock_path(const std::string& path) { return path + std::string(lock_suffix); }

PathRefusal refusal(Error error, const std::string& path, const std::string& why) {
  return {error, "cannot listen at unix:" + path + ": " + why};
}

PathRefusal system_refusal(const std::string& path, const std::string& what, int number) {
  return refusal(unusable, path,
                 what + ": " + std::strerror(number) + "; the directory has to exist and this user to write there");
}

enum class Found { nothing, left_behind, in_use, no_socket };

// What is at the path. Only a refused connection proves that nobody listens.
Found look_at(const std::string& path) noexcept {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return Found::nothing;
  if (!S_ISSOCK(found.st_mode)) return Found::no_socket;
  const os::Fd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const Address address = unix_address(path);
  if (!probe || connect(probe.get(), address.native(), address.length) == 0) return Found::in_use;
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

// A claim that succeeds proves that the owner is gone, and its end removes both files.
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

// The directory exists, is no link, and belongs to this user or to root.
bool make_directory(const std::string& directory) {
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  struct stat found {};
  return lstat(directory.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         (found.st_uid == geteuid() || found.st_uid == 0);
}

std::string next_name(const std::string& directory) {
  static std::atomic<std::uint64_t> names{0};
  // relaxed: only uniqueness counts
  const std::uint64_t number = names.fetch_add(1, std::memory_order_relaxed) + 1;
  return directory + "/" + std::to_string(getpid()) + "." + std::to_string(number) + std::string(chosen_suffix);
}

// The open lock file, locked; nothing when another server holds it. errno says why it cannot be opened.
struct LockAttempt {
  os::Fd file;
  int failure = 0;  // errno; 0: held by another
};
LockAttempt take_lock(const std::string& path) noexcept {
  // Bound: a turn is repeated only when a server that ended removed the file between opening and locking it.
  while (true) {
    os::Fd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return {{}, errno};
    const auto locked = os::try_lock(file);
    if (!locked) return {{}, ENOLCK};
    if (!*locked) return {};
    struct stat mine {
    }, there{};
    if (fstat(file.get(), &mine) == 0 && lstat(path.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
        mine.st_dev == there.st_dev)
      return {std::move(file), 0};
  }
}

}  // namespace

SocketPath::FileId SocketPath::id_at(const std::string& path) noexcept {
  struct stat found {};
  return lstat(path.c_str(), &found) == 0 ? FileId{found.st_dev, found.st_ino} : FileId{};
}

Expected<SocketPath, PathRefusal> SocketPath::claim(std::string path) {
  if (path.empty() || path.front() != '/' || path.size() > longest_unix_path)
    return refusal(unusable, path,
                   "a socket's path is absolute and has at most " + std::to_string(longest_unix_path) +
                       " bytes, the system's limit; this one has " + std::to_string(path.size()) +
                       ": take a shorter directory");
  LockAttempt lock = take_lock(lock_path(path));
  if (!lock.file && lock.failure != 0) return system_refusal(path, lock_path(path), lock.failure);
  if (!lock.file) return refusal(taken, path, "another server listens there; take another path");
  SocketPath claimed(std::move(path), std::move(lock.file));
  switch (look_at(claimed.path_)) {
    case Found::nothing:
      break;
    case Found::left_behind:
      if (unlink(claimed.path_.c_str()) == 0 || errno == ENOENT) break;
      return system_refusal(claimed.path_, "the socket of a server that ended cannot be removed", errno);
    case Found::in_use:
      return refusal(taken, claimed.path_, "another program listens there; take another path");
    case Found::no_socket:
      return refusal(taken, claimed.path_, "a file is there that is no socket; remove it or take another path");
  }
  return claimed;
}

Expected<SocketPath, PathRefusal> SocketPath::choose(const std::string& directory) {
  if (directory.empty() || !make_directory(directory))
    return refusal(unusable, directory, "the directory cannot be made or is not ours; set runtime.directory");
  sweep(directory);
  std::optional<PathRefusal> last;
  for (int i = 0; i < choices; ++i) {
    auto claimed = claim(next_name(directory));
    if (claimed || claimed.error().error.minor != minor::address_in_use) return claimed;
    last = claimed.error();
  }
  return *last;
}

Expected<os::Fd, PathRefusal> SocketPath::listen(mode_t mode) {
  os::Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_refusal(path_, "no socket", errno);
  const Address address = unix_address(path_);
  // The file is made with the mode that the socket has, less the umask; so it is never more open than asked for.
  if (fchmod(fd.get(), mode) != 0 || bind(fd.get(), address.native(), address.length) != 0) {
    if (errno == EADDRINUSE) return refusal(taken, path_, "another program listens there; take another path");
    return system_refusal(path_, "bind", errno);
  }
  bound_ = id_at(path_);
  if (chmod(path_.c_str(), mode) != 0 || ::listen(fd.get(), SOMAXCONN) != 0)
    return system_refusal(path_, "listen", errno);
  return fd;
}

SocketPath::~SocketPath() {
  if (!lock_) return;
  if (bound_ != FileId{} && id_at(path_) == bound_) unlink(path_.c_str());
  unlink(lock_path(path_).c_str());  // before the lock goes with its file: see take_lock()
}

}  // namespace corelane::transport
