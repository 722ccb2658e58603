// corelane-reserved: reserves cores of this host for processes. See docs/reservation.md.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "orb/core/config/orb_options.h"
#include "orb/core/config/settings_of.h"
#include "orb/os/process/standard_descriptors.h"
#include "services/reserved/daemon/daemon.h"
#include "services/reserved/daemon/end_signals.h"

namespace {

constexpr const char* help_text = R"(usage: corelane-reserved [-ORBOption VALUE ...]

Gives processes whole cores, or shares of cores, that no other process disturbs. On SIGTERM, SIGINT or SIGHUP it puts the
host back as it was, and ends. Clients find it by reserved.ior in its runtime directory (/run/corelane for root):
  corelane reserve --cores 1 -- ./app     corelane cores

Settings, here or in /etc/corelane.toml; docs/reservation.md and docs/configuration.md explain them:
  -ORBReservedUsers LIST       users, besides root, that may reserve; groups as @name; or anyone (none)
  -ORBReservedKeep CORES       never given away, such as 0,4-5 (the first core)
  -ORBReservedBackend NAME     auto, cgroup-v2, cgroup-v1 or affinity
  -ORBReservedRoot GROUP       the control group below which it works (/)
  -ORBReservedInterrupts off   leave interrupts where they are
  -ORBReservedMemoryRest N     per cent of the memory that is never promised (10)
  -ORBReservedProcesses PID    move only this process and what it starts (all)
  -ORBReservedSocket PATH      where it listens (reserved.sock in the runtime directory)
  -ORBRuntimeDirectory DIR     socket, reference and journal
)";

int fail(int status, const std::string& text) { return std::cerr << "corelane-reserved: " << text << "\n", status; }

}  // namespace

int main(int argc, char* argv[]) try {
  corelane::os::hold_standard_descriptors();  // before the journal is opened, which is before there is an ORB
  corelane::os::outlive_readers();
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto options = corelane::core::take_orb_options(words);
  if (!words.empty() && (words.front() == "--help" || words.front() == "-h")) return std::cout << help_text, 0;
  if (!words.empty() && words.front() == "--version") return std::cout << "corelane-reserved " CORELANE_VERSION "\n", 0;
  if (!words.empty()) return fail(2, "what is '" + words.front() + "'? See corelane-reserved --help");
  const auto settings = corelane::core::settings_of(options);
  if (!settings) return fail(2, settings.error().text);
  const auto& own = settings->services.of<corelane::reserved::DaemonSettings>();
  if (const auto fault = corelane::reserved::fault_of(own); !fault.empty()) return fail(2, fault);
  corelane::reserved::block_end_signals();  // before the host is changed, and before there are threads
  const auto done = corelane::reserved::run_daemon(options, *settings);
  return done ? 0 : fail(1, done.error());
} catch (const std::exception& error) {
  return fail(1, error.what());
}
