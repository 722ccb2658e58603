// Meeting forks processes to the other end of a channel. The ends connect as unrelated processes do: over a listener.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "orb/channel/listener.h"
#include "orb/os/peers/passed_descriptors.h"
#include "tests/support/channel_pair.h"
#include "tests/support/peers/fork_alone.h"
#include "tests/support/system/temp_directory.h"

namespace corelane::testing {

enum class ChildIs { connector, acceptor };

// A listener at its own path, and processes that are forked to it.
class Meeting {
 public:
  explicit Meeting(const channel::Options& options = {})
      : options_(options), listener_(listen(directory_ / "channel", options)) {}

  // Runs `body` with the child's end, and exits with what it returns. Does not run it if there is no end. The child
  // starts no thread and uses none of the parent's.
  template <typename Body>
  pid_t fork_child(ChildIs role, Body&& body) {
    const pid_t parent = getpid(), child = corelane::testing::fork_alone();
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent && getppid() != 0) _exit(99);  // 0: the parent is in another process namespace
    ChannelResult end = meet(role == ChildIs::connector);
    _exit(end ? body(*end) : 98);
  }
  // Returns this process's end.
  ChannelResult meet_child(ChildIs role) { return meet(role == ChildIs::acceptor); }

  const std::string& path() const { return listener_.path(); }

 private:
  ChannelResult meet(bool connects) {
    return connects ? channel::Channel::connect(listener_.path(), options_, soon()) : listener_.accept(soon());
  }
  static channel::Listener listen(const std::string& path, const channel::Options& options) {
    auto made = channel::Listener::listen(path, options);
    if (!made) throw std::runtime_error(made.error().text);
    return std::move(*made);
  }

  TempDirectory directory_;
  channel::Options options_;
  channel::Listener listener_;
};

// Returns the exit code, or minus the number of the signal that killed the child.
inline int end_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

// Counts what this process holds of channels, and of other things that could leak.
struct Holdings {
  std::size_t descriptors = 0, mappings = 0;

  Holdings() {
    await_given_back();
    const std::filesystem::directory_iterator begin("/proc/self/fd");
    descriptors = static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator{}));
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
      mappings += line.find("corelane-channel") != std::string::npos ? 1 : 0;
  }
  friend bool operator==(const Holdings&, const Holdings&) = default;
};

}  // namespace corelane::testing
