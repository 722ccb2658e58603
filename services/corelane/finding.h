// Finding: one thing that real time needs of a host, whether it is there, what its lack costs and what mends it; and
// what the checks behind it look at. A check is a pure function of files and of what was tried.
// Threads: values.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/time.h"
#include "services/corelane/host_files.h"
#include "services/corelane/listening.h"
#include "services/corelane/nameserver_look.h"

namespace corelane::tool {

// What a host is looked at for.
enum class Purpose : std::uint8_t {
  tasks = 1,    // admitted tasks hold their deadlines
  latency = 2,  // they respond early, and alike
  reserve = 4,  // cores can be had for oneself
  services = 8  // programs find services and cores by asking
};

enum class FindingState : std::uint8_t { present, missing, unknown };

struct Finding {
  std::string name{};
  FindingState state = FindingState::present;
  std::string found{};                  // what is there
  std::string cost{};                   // of its lack
  std::vector<std::string> commands{};  // which mend it, each for a shell, one after the other
  std::string note{};                   // beside the commands, or in their place
};

// What no file says: it was tried, or asked of the system.
struct ProbedFacts {
  bool root = true;
  std::string user = "root";
  bool fifo = true;              // SCHED_FIFO at the levels of dispatch
  bool fifo_group_zero = false;  // refused by the control group alone
  bool memlock = true;
  int deadline_fault = 0;  // errno of SCHED_DEADLINE; 0: it works
  int memfd_fault = 0;     // of memfd_create(2) with sealing
  int futex_fault = 0;     // of a futex that processes share
  Duration timer_resolution{1};
  std::string kernel_config{};  // as /proc/config.gz or /boot say how the kernel was built; "": they do not
  std::string runtime_directory{};
  bool runtime_is_there = true;
  Listening nameserver{.at = "/run/corelane/nameserver.sock"}, reserved{};
  NameserverLook naming{};                                          // as programs find it
  std::vector<std::string> nameserver_places{}, reserved_places{};  // where they were looked for
  std::string start_options{};                                      // with which they are started there
  std::string runtime_fault{};                                      // why servers cannot use it; "": they can
  std::string runtime_remark{};                                     // why it is not the usual one; "": it is
};

struct HostView {
  const HostFiles& files;
  const ProbedFacts& facts;

  // The command, with sudo before it for who is not root.
  std::string as_root(const std::string& command) const { return (facts.root ? "" : "sudo ") + command; }
  std::string start_reserved() const { return as_root("corelane-reserved" + facts.start_options + " &"); }
  // A command that writes `value` into the file, or into those of the pattern.
  std::string write_to(const std::string& file, const std::string& value) const {
    return "echo " + value + " | " + as_root("tee " + file);
  }
  CoreSet online() const { return parse_core_set(files.text_or_empty("/sys/devices/system/cpu/online")); }
  std::string command_line() const { return files.text_or_empty("/proc/cmdline"); }
  // Of a kernel's version: at least major.minor.
  bool kernel_is_at_least(int major, int minor) const;
  // Adds words to the kernel's command line, where the boot loader is Debian's; else says what to add.
  void mend_by_boot(Finding& finding, const std::string& words) const;
};

struct Check {
  unsigned purposes;  // of Purpose
  Finding (*look)(const HostView& host);
};

std::span<const Check> rights_checks();
std::span<const Check> limit_checks();
std::span<const Check> kernel_checks();
std::span<const Check> core_checks();
std::span<const Check> isolation_checks();
std::span<const Check> service_checks();

}  // namespace corelane::tool
