#include "services/corelane/host/elsewhere.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "orb/dispatch/counter_page.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view of_user = "corelane-";  // in /tmp, followed by the user's number

// Calls `see` for each entry of a directory, as far as it can be read. A range-based loop would throw.
template <typename See>
void for_each_in(const fs::path& directory, See see) {
  std::error_code failure;
  for (fs::directory_iterator entry(directory, failure), end; !failure && entry != end; entry.increment(failure))
    see(entry->path());
}

// Returns the number, or 0 if the text is not one.
int number_in(const std::string& name) {
  int number = 0;
  const char* const last = name.data() + name.size();
  const auto [end, fault] = std::from_chars(name.data(), last, number);
  return fault == std::errc{} && end == last ? number : 0;
}

std::string page_of(int pid) { return "counters-" + std::to_string(pid); }

std::string user_of(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? "user " + std::to_string(found.st_uid) : "its user";
}

bool is_closed(const std::string& directory, int pid) {
  return ::access((directory + "/" + page_of(pid)).c_str(), R_OK) != 0 && errno == EACCES;
}

std::string line_of(const std::string& directory, const std::vector<int>& pids) {
  std::string text = "elsewhere: " + plain(directory) + " has " + (pids.size() == 1 ? "server" : "servers");
  for (const int pid : pids) text += (pid == pids.front() ? " " : ", ") + std::to_string(pid);
  text += "; corelane top --runtime-directory " + plain(directory) + " shows " + (pids.size() == 1 ? "it" : "them");
  if (is_closed(directory, pids.front()))
    text += " to " + user_of(directory + "/" + page_of(pids.front())) + " and to root";
  return text + "\n";
}

std::vector<int> servers_in(const std::string& directory, std::error_code& failure) {
  std::vector<int> pids = dispatch::page_owners(directory, failure);
  std::erase_if(pids, [](int pid) { return !lives(pid); });
  return pids;
}

}  // namespace

std::vector<int> closed_servers(const std::string& directory) {
  std::error_code ignored;
  std::vector<int> pids = servers_in(directory, ignored);
  std::erase_if(pids, [&](int pid) { return !is_closed(directory, pid); });
  return pids;
}

bool lives(int pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; }

std::string directory_of_server(int pid) {
  std::string directory;
  for_each_in("/proc/" + std::to_string(pid) + "/fd", [&](const fs::path& descriptor) {
    std::error_code closed;
    const fs::path file = fs::read_symlink(descriptor, closed);
    if (!closed && file.filename() == page_of(pid)) directory = file.parent_path();
  });
  return directory;
}

std::vector<std::string> known_directories() {
  std::set<std::string> found{"/run/corelane"};
  for_each_in("/run/user", [&](const fs::path& user) { found.insert(user / "corelane"); });
  for_each_in("/tmp", [&](const fs::path& path) {
    const std::string name = path.filename();
    if (name.starts_with(of_user) && number_in(name.substr(of_user.size())) > 0) found.insert(path);
  });
  for_each_in("/proc", [&](const fs::path& process) {
    const int pid = number_in(process.filename());
    if (pid > 0) found.insert(directory_of_server(pid));
  });
  found.erase("");
  return {found.begin(), found.end()};
}

const std::vector<std::string>& KnownDirectories::at(Time now) {
  constexpr Duration stale = std::chrono::seconds{10};
  if (!looked_ || now - *looked_ >= stale) {
    directories_ = known_directories();
    looked_ = now;
  }
  return directories_;
}

std::string elsewhere_text(const std::string& here, const std::vector<std::string>& directories) {
  std::string text, closed;
  for (const std::string& directory : directories) {
    std::error_code failure;
    if (fs::equivalent(directory, here, failure)) continue;
    const std::vector<int> pids = servers_in(directory, failure);
    if (!pids.empty()) text += line_of(directory, pids);
    if (failure == std::errc::permission_denied) closed += (closed.empty() ? "" : ", ") + plain(directory);
  }
  return closed.empty() ? text : text + "not inspected, because this user has no access: " + closed + "\n";
}

}  // namespace corelane::tool
