#include "examples/pendulum/stage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <system_error>

#include "orb/os/file_lock.h"
#include "orb/os/peers/own_user.h"

namespace corelane::pendulum {
namespace {

namespace fs = std::filesystem;

const std::string prefix = "corelane-demo-";
constexpr const char* lock_name = "lock";

// Makes the lock file and locks it. The file is written once it is locked: an empty one belongs to a demo that has just
// started. Returns nothing on a failure; see errno.
os::Fd make_lock(const std::string& directory) {
  os::Fd file(::open((directory + "/" + lock_name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return {};
  const auto locked = os::try_lock(file);
  if (locked && *locked && ::write(file.get(), "1\n", 2) == 2) return file;
  return {};
}

// Returns whether the directory's demo has ended and this user may remove the directory.
bool is_orphan(const fs::path& directory) {
  struct stat found {};
  if (::lstat(directory.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || !os::is_own_user(found.st_uid))
    return false;
  const os::Fd file(::open((directory / lock_name).c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file || ::fstat(file.get(), &found) != 0 || found.st_size == 0) return false;
  const auto held = os::is_locked_elsewhere(file);
  return held && !*held;
}

void remove_orphans(const fs::path& place) {
  std::vector<fs::path> orphans;
  std::error_code ignored;
  for (fs::directory_iterator entry(place, ignored), end; !ignored && entry != end; entry.increment(ignored))
    if (entry->path().filename().string().starts_with(prefix) && is_orphan(entry->path()))
      orphans.push_back(entry->path());
  for (const fs::path& orphan : orphans) fs::remove_all(orphan, ignored);
}

std::string text_of(int failure) { return std::generic_category().message(failure); }

// `fault`: what the system refuses, and where. Empty: the place itself is no directory.
std::runtime_error no_place(const std::string& fault) {
  std::string set = "/tmp";
  for (const char* const name : {"TEMPDIR", "TEMP", "TMP", "TMPDIR"})  // the last one that is set is used
    if (const char* const value = ::getenv(name)) set = std::string(name) + "=" + value;
  return std::runtime_error("the demo keeps its names in a new directory below " +
                            (fault.empty() ? set + ", which is no directory that can be reached"
                                           : set + ", and cannot make it (" + fault + ")") +
                            "; let TMPDIR name one that this user may write to");
}

void say(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::cout << "  " << line << "\n";
  std::cout << std::flush;
}

}  // namespace

OwnDirectory::OwnDirectory() {
  std::error_code fault;
  const fs::path place = fs::temp_directory_path(fault);
  if (fault) throw no_place("");
  remove_orphans(place);
  path_ = place / (prefix + "XXXXXX");
  if (::mkdtemp(path_.data()) == nullptr) throw no_place(place.string() + ": " + text_of(errno));
  lock_ = make_lock(path_);
  if (lock_) return;
  const int failure = errno;
  fs::remove_all(path_, fault);
  throw no_place(path_ + "/" + lock_name + ": " + text_of(failure));
}

OwnDirectory::~OwnDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Stage::Stage(Reserving reserving, const OrbOptions& given, CORBA::ORB& orb)
    : reservations_(reserving, directory_.path(), given, orb), names_(directory_.path(), given, orb) {
  say(reservations_.introduction());
  say(names_.introduction());
}

OrbOptions Stage::service_options() const {
  OrbOptions options = reservations_.service_options();
  const OrbOptions of_names = names_.options();
  options.insert(options.end(), of_names.begin(), of_names.end());
  return options;
}

std::string Stage::placement_of(pid_t service) const {
  const std::string cores = reservations_.cores_of(service);
  if (cores.empty()) return "no core for itself";
  return (cores.find(' ') == cores.npos ? "core " : "cores ") + cores + reservations_.whose();
}

std::vector<std::string> Stage::attend(pid_t service) {
  std::vector<std::string> lines = reservations_.attend(service);
  const auto more = names_.attend(service_name);
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

}  // namespace corelane::pendulum
