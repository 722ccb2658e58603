// Interrupt notes SIGINT and SIGTERM, so that a long command can keep what it has done and stop. A second signal ends
// the process in the usual way.
//
// Threads: asked() may be called from any thread. One thread constructs and destroys the object. Only one object may
// exist in a process at a time.
#pragma once

#include <signal.h>

#include <array>

namespace corelane::tool {

class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  static bool asked() noexcept;

 private:
  static constexpr std::array<int, 2> signals{SIGINT, SIGTERM};

  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace corelane::tool
