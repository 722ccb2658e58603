#include "bench/interactivity/enclosure.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "bench/support/machine.h"

namespace interactivity {
namespace {

namespace fs = std::filesystem;

const std::string prefix = "corelane-bench-";

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// Returns where a hierarchy of cgroup v1 is mounted; "" if nowhere.
std::string mount_of(const std::string& controller) {
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string device, place, kind, options;
    words >> device >> place >> kind >> options;
    if (kind == "cgroup" && ("," + options + ",").find("," + controller + ",") != std::string::npos) return place;
  }
  return "";
}

bool put(const fs::path& file, const std::string& text) {
  std::ofstream stream(file);
  return static_cast<bool>(stream << text << std::flush);
}

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// Removes a group whose processes have ended, with its children. Groups that this user cannot remove stay.
void remove_group(const fs::path& group) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(group, ignored))
    if (entry.is_directory(ignored)) remove_group(entry.path());
  rmdir(group.c_str());
}

// Handles what killed runs left behind there.
template <typename Remove>
void for_stale(const fs::path& place, Remove&& remove) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(place, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(prefix)) continue;
    const int owner = std::atoi(name.c_str() + prefix.size());
    if (owner > 0 && kill(owner, 0) != 0 && errno == ESRCH) remove(entry.path());
  }
}

std::string usable_list() {
  std::string list;
  for (const corelane::CoreId core : bench_support::usable_cores())
    list += (list.empty() ? "" : ",") + std::to_string(core.value);
  return list;
}

// Makes cpusets for the run and puts this process into them.
class Groups {
 public:
  explicit Groups(bool wanted)
      : name_(prefix + std::to_string(getpid())), mounts_{mount_of("cpuset"), mount_of("cpu")} {
    impossible_ = wanted ? make() : "not asked for";
  }
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;
  ~Groups() {
    for (const std::string& mount : mounts_)
      if (!mount.empty()) remove_group(fs::path(mount) / name_);
  }

  std::string name() const { return impossible_.empty() ? name_ : ""; }
  const std::string& impossible() const { return impossible_; }
  void enter() {
    if (impossible_.empty() && !put(cpuset() / "cgroup.procs", "0")) fail("to enter a cpuset");
  }

 private:
  fs::path cpuset() const { return fs::path(mounts_[0]) / name_; }
  // Returns "" or why it failed.
  std::string make() const {
    if (bench_support::usable_cores().size() < 2) return "it takes two usable cores";
    if (geteuid() != 0) return "only root may make a cpuset: run it through sudo";
    for (const std::string& mount : mounts_) {
      if (mount.empty()) return "the controllers cpuset and cpu of cgroup v1 are not mounted here";
      for_stale(mount, remove_group);
      if (mkdir((fs::path(mount) / name_).c_str(), 0755) != 0) return mount + ": " + std::strerror(errno);
    }
    if (!put(cpuset() / "cpuset.cpus", usable_list()) ||
        !put(cpuset() / "cpuset.mems", first_line(fs::path(mounts_[0]) / "cpuset.mems")))
      return cpuset().string() + " does not take cores " + usable_list();
    return "";
  }

  const std::string name_;
  const std::array<std::string, 2> mounts_;
  std::string impossible_;
};

class Directory {
 public:
  Directory() : path_((fs::temp_directory_path() / (prefix + std::to_string(getpid()) + "-XXXXXX")).string()) {
    for_stale(fs::temp_directory_path(), [](const fs::path& path) {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    });
    if (mkdtemp(path_.data()) == nullptr) fail("mkdtemp");
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Mounts /proc anew: a /proc shows the processes of the PID namespace that mounted it.
void see_own_processes() {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("proc", "/proc", "proc", 0, nullptr) != 0)
    fail("a mount namespace");
}

[[noreturn]] void be_inside(const std::function<int(const Enclosure&)>& inside, Groups& groups,
                            const Enclosure& enclosure) {
  int status = 1;
  try {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    groups.enter();
    if (!enclosure.group.empty()) see_own_processes();
    status = inside(enclosure);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "corelane-bench-interactivity: %s\n", fault.what());
  }
  std::fflush(nullptr);
  _exit(status);
}

sigset_t awaited() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

// Waits until the process has ended. Another signal kills it. Without a namespace, its children end with it because of
// their parent-death signal.
int wait_for(pid_t process) {
  const sigset_t set = awaited();
  for (int status = 0, stopped = 0;;) {  // bound: the life of the process
    if (waitpid(process, &status, WNOHANG) == process)
      return stopped != 0 ? 128 + stopped : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    const int signal = sigwaitinfo(&set, nullptr);
    if (signal <= 0 || signal == SIGCHLD) continue;
    stopped = signal;
    kill(process, SIGKILL);
  }
}

}  // namespace

int run_enclosed(bool apart, const std::function<int(const Enclosure&)>& inside) {
  const sigset_t set = awaited();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &set, &before);
  const Directory directory;
  Groups groups(apart);
  Enclosure enclosure{directory.path(), groups.name(), groups.impossible()};
  if (!enclosure.group.empty() && unshare(CLONE_NEWPID) != 0) {
    enclosure.group.clear();
    enclosure.impossible = "no PID namespace: run it as root of the host";
  }
  std::fflush(nullptr);
  const pid_t process = fork();
  if (process < 0) fail("fork");
  if (process == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    be_inside(inside, groups, enclosure);
  }
  return wait_for(process);
}

}  // namespace interactivity
