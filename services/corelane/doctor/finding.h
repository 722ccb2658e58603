// Finding describes one thing that real time needs of a host: whether it is present, what its lack costs, and how to
// get it. The file also has the input of the checks. A check is a pure function of files and of what was tried.
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
#include "services/corelane/host/host_files.h"
#include "services/corelane/host/listening.h"
#include "services/corelane/naming/nameserver_look.h"

namespace corelane::tool {

// The purpose for which a host is examined.
enum class Purpose : std::uint8_t {
  tasks = 1,    // admitted tasks meet their deadlines
  latency = 2,  // they respond early and regularly
  reserve = 4,  // cores can be reserved
  services = 8  // programs find services and cores by asking
};

enum class FindingState : std::uint8_t { present, missing, unknown };

struct Finding {
  std::string name{};
  FindingState state = FindingState::present;
  std::string found{};                  // what is present
  std::string cost{};                   // of its lack
  std::vector<std::string> commands{};  // commands that provide it, each for a shell, in this order
  std::string note{};                   // in addition to the commands, or instead of them
};

// Facts that are in no file: doctor tried them, or asked the system.
struct ProbedFacts {
  bool root = true;
  std::string user = "root";
  bool fifo = true;              // SCHED_FIFO at the levels of dispatch works
  bool fifo_group_zero = false;  // only the control group refuses SCHED_FIFO
  bool memlock = true;
  int deadline_fault = 0;  // errno of SCHED_DEADLINE; 0: it works
  int memfd_fault = 0;     // of memfd_create(2) with sealing
  int futex_fault = 0;     // of a futex shared between processes
  Duration timer_resolution{1};
  std::string kernel_config{};  // the kernel's build configuration from /proc/config.gz or /boot; "": there is none
  std::string runtime_directory{};
  bool runtime_is_there = true;
  Listening nameserver{.at = "/run/corelane/nameserver.sock"}, reserved{};
  NameserverLook naming{};                                          // the naming service as programs find it
  std::vector<std::string> nameserver_places{}, reserved_places{};  // where they were looked for
  std::string start_options{};                                      // options that start them there
  std::string runtime_fault{};                                      // why servers cannot use it; "": they can
  std::string runtime_remark{};                                     // why it is not the usual one; "": it is
};

struct HostView {
  const HostFiles& files;
  const ProbedFacts& facts;

  // Returns the command, with sudo before it if the user is not root.
  std::string as_root(const std::string& command) const { return (facts.root ? "" : "sudo ") + command; }
  std::string start_reserved() const { return as_root("corelane-reserved" + facts.start_options + " &"); }
  // Returns a command that writes `value` into the file, or into the files that match the pattern.
  std::string write_to(const std::string& file, const std::string& value) const {
    return "echo " + value + " | " + as_root("tee " + file);
  }
  CoreSet online() const { return parse_core_set(files.text_or_empty("/sys/devices/system/cpu/online")); }
  std::string command_line() const { return files.text_or_empty("/proc/cmdline"); }
  // Returns whether the kernel's version is at least major.minor.
  bool kernel_is_at_least(int major, int minor) const;
  // Adds a command that adds words to the kernel's command line, if the boot loader is Debian's. Otherwise adds a note
  // that says what to add.
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
