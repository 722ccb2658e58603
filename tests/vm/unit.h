// Unit: a service of systemd in the machine, as systemctl shows it.
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "orb/os/clock.h"

namespace corelane::testing {

// Returns the output of a command, without the newlines at its end.
inline std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  char part[256];
  while (pipe && std::fgets(part, sizeof part, pipe.get()) != nullptr) text += part;
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

class Unit {
 public:
  explicit Unit(std::string name) : name_(std::move(name)) {}

  std::string property(const std::string& key) const {
    return output_of("systemctl show --value -p " + key + " " + name_);
  }
  // Returns the id of its process; 0 if it does not run.
  int pid() const { return std::stoi("0" + property("MainPID")); }
  // Waits up to two minutes until systemd runs another process in its place.
  bool another_starts(int former) const {
    const Time latest = os::now() + std::chrono::minutes{2};
    while (os::now() < latest)
      if (const int now = pid(); now != 0 && now != former && property("SubState") == "running") return true;
    return false;
  }

 private:
  const std::string name_;
};

}  // namespace corelane::testing
