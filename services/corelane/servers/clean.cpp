#include "services/corelane/servers/clean.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "orb/base/text/counted.h"
#include "orb/dispatch/counter_page.h"
#include "orb/os/fd.h"
#include "orb/os/file_lock.h"
#include "orb/os/socket_path.h"
#include "services/corelane/host/elsewhere.h"
#include "services/corelane/host/host_files.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view page_name = "counters-", request_name = "dump-", end_name = "end-", socket_end = ".sock",
                           lock_end = ".lock";
constexpr const char *page_kind = "counter page", *socket_kind = "socket", *request_kind = "request for a trace",
                     *end_kind = "request to end tasks";

// Returns whether it is an empty plain file, like those of SocketPath, that this user may write and that is not locked.
bool is_free_lock(const std::string& path) {
  const os::Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode) || found.st_size != 0) return false;
  const auto locked = os::is_locked_elsewhere(file);
  return locked && !*locked;
}

// Returns whether both may name the same file, of any kind; std::filesystem::equivalent() does not handle sockets. A
// relative name may be that of any file, because the directory that it is relative to is unknown.
bool may_be_same(const std::string& bound, const std::string& path) {
  struct stat a {
  }, b{};
  if (!bound.starts_with('/')) return true;
  return ::stat(bound.c_str(), &a) == 0 && ::stat(path.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

// Returns whether a living process of this network namespace has bound a socket to the path, in any spelling, whether
// it listens already or not.
bool is_bound(const std::string& path) {
  const std::string name = fs::path(path).filename();
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {  // bound: the host's sockets
    std::istringstream words(line);
    std::string word;
    for (int before = 0; before < 7; ++before) words >> word;  // the columns before the path, with the inode
    std::string bound;
    if (std::getline(words >> std::ws, bound) && fs::path(bound).filename() == name && may_be_same(bound, path))
      return true;
  }
  return false;
}

// Returns whether it is a socket that no process has. For a socket of another network namespace, only a refused
// connection proves it. Does not connect to a socket of this namespace, because that could start a server for which
// systemd listens.
bool is_deserted(const std::string& path) {
  struct stat found {};
  const auto address = os::unix_address(path);
  if (!address || ::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode) || is_bound(path)) return false;
  const os::Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return probe && ::connect(probe.get(), address->generic(), address->length) != 0 && errno == ECONNREFUSED;
}

bool exists(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0;
}

// Returns whether SocketPath::choose() could have made the name: 4711.1.sock.
bool is_chosen_name(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  name.remove_suffix(socket_end.size());
  const std::size_t dot = name.find('.');
  return dot != name.npos && dot > 0 && dot + 1 < name.size() && name.find_first_not_of("0123456789") == dot &&
         name.find_first_not_of("0123456789", dot + 1) == name.npos;
}

// Returns whether it is a socket, or the lock of a socket that is gone. Corelane's sockets have a lock, or a name that
// SocketPath chose.
bool is_left_socket(const std::string& path) {
  const std::string lock = path + std::string(lock_end);
  const bool has_lock = exists(lock);
  if (has_lock ? !is_free_lock(lock) : !is_chosen_name(path)) return false;
  return exists(path) ? is_deserted(path) : has_lock;
}

// Returns the process that the text names; 0 for none.
int process_of(std::string_view text) {
  const long long pid = leading_number(text);
  return pid > 0 && pid < 1 << 30 ? static_cast<int>(pid) : 0;
}

bool is_left_request(const fs::path& path, std::string_view prefix) {
  const std::string name = path.filename().native();
  if (!name.starts_with(prefix)) return false;
  const int pid = process_of(std::string_view(name).substr(prefix.size()));
  std::error_code gone;
  return pid > 0 && !lives(pid) && fs::is_regular_file(fs::symlink_status(path, gone));
}

// Returns whether it is a page or the lock of a socket that another user seems to have left.
bool may_be_left_by_another(const fs::path& path) {
  const std::string whole = path, name = path.filename();
  const bool is_page = name.starts_with(page_name), is_lock = name.ends_with(std::string(socket_end).append(lock_end));
  if ((!is_page && !is_lock) || ::access(whole.c_str(), R_OK | W_OK) == 0 || errno != EACCES) return false;
  if (is_lock && is_bound(whole.substr(0, whole.size() - lock_end.size()))) return false;
  const int pid = process_of(std::string_view(name).substr(is_page ? page_name.size() : 0));
  return pid == 0 ? is_lock : !lives(pid);
}

void add_if_left(const fs::path& path, std::vector<Remnant>& found) {
  std::string whole = path, name = path.filename();
  if (name.starts_with(page_name) && leading_number(name.substr(page_name.size())) > 0 &&
      dispatch::is_stale_page(whole))
    found.push_back({whole, page_kind});
  if (is_left_request(path, request_name)) found.push_back({whole, request_kind});
  if (is_left_request(path, end_name)) found.push_back({whole, end_kind});
  if (name.ends_with(lock_end)) whole.resize(whole.size() - lock_end.size());
  if (whole.ends_with(socket_end) && is_left_socket(whole)) found.push_back({whole, socket_kind});
}

std::string summary(const Remnants& remnants, std::size_t removed, const CleanOptions& options) {
  if (remnants.found.empty() && remnants.closed > 0) return {};
  if (remnants.found.empty()) return "nothing is left behind in " + plain(options.directory) + "\n";
  if (options.dry_run)
    return std::to_string(remnants.found.size()) + " would be removed; corelane clean without --dry-run does it\n";
  return std::to_string(removed) + " removed\n";
}

}  // namespace

Remnants find_remnants(const std::string& directory) {
  Remnants remnants;
  std::error_code failure;
  for (fs::directory_iterator entry(directory, failure), end; !failure && entry != end; entry.increment(failure))
    if (may_be_left_by_another(entry->path()))
      ++remnants.closed;
    else
      add_if_left(entry->path(), remnants.found);
  if (failure) remnants.fault = failure.message();
  const auto by_path = [](const Remnant& remnant) { return std::pair(remnant.path, remnant.what); };
  std::ranges::sort(remnants.found, {}, by_path);
  // A socket and its lock count once.
  const auto twins = std::ranges::unique(remnants.found, {}, by_path);
  remnants.found.erase(twins.begin(), twins.end());
  return remnants;
}

bool remove_remnant(const Remnant& remnant) {
  if (remnant.what == socket_kind) return os::SocketPath::claim(remnant.path) && !exists(remnant.path);
  if (remnant.what == request_kind || remnant.what == end_kind) return ::unlink(remnant.path.c_str()) == 0;
  return dispatch::remove_stale_page(remnant.path);
}

int clean(const CleanOptions& options, std::ostream& out, std::ostream& err) {
  const Remnants remnants = find_remnants(options.directory);
  auto json = nlohmann::ordered_json::array();
  std::size_t removed = 0;
  for (const Remnant& remnant : remnants.found) {
    const bool gone = !options.dry_run && remove_remnant(remnant);
    if (gone) ++removed;
    if (options.format == Format::json)
      json.push_back({{"path", remnant.path}, {"what", remnant.what}, {"removed", gone}});
    else if (gone || options.dry_run)
      out << remnant.what << " " << plain(remnant.path) << "\n";
    if (!gone && !options.dry_run)
      err << "corelane clean: " << plain(remnant.path)
          << " stays: it is used again, or belongs to another user, who can remove it, as root can\n";
  }
  if (options.format == Format::json)
    out << json_lines(json);
  else if (remnants.fault.empty())
    out << summary(remnants, removed, options);
  if (!remnants.fault.empty())
    err << "corelane clean: " << plain(options.directory) << ": " << remnants.fault
        << "; --runtime-directory names another\n";
  if (remnants.closed > 0)
    err << "corelane clean: " << counted(remnants.closed, "file")
        << " of other users could not be looked at; their user can clean " << plain(options.directory)
        << ", as root can\n";
  const bool all_seen = remnants.fault.empty() && remnants.closed == 0;
  return all_seen && (options.dry_run || removed == remnants.found.size()) ? 0 : 1;
}

}  // namespace corelane::tool
