#include "bench/interactivity/driver.h"

#include <signal.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "bench/interactivity/roles.h"
#include "orb/os/clock.h"

namespace interactivity {

namespace fs = std::filesystem;
using corelane::os::ChildProcess;

namespace {

constexpr std::chrono::minutes patience{20};  // longer than a computation beside hundreds of threads takes
constexpr std::chrono::seconds patience_with_daemon{10};
constexpr std::chrono::milliseconds between_looks{10}, settling{100};

void pause(corelane::Duration time) { corelane::os::sleep_until(corelane::os::now() + time); }

void expect_ready(ChildProcess& process, const std::string& who) {
  const std::string line = process.read_line(corelane::os::now() + patience).value_or("it ended, or hangs");
  if (!line.starts_with("READY")) throw std::runtime_error(who + ": " + line);
}

}  // namespace

Reserver::Reserver(const Enclosure& enclosure, const std::string& running) : directory_(running) {
  if (!running.empty()) return;
  directory_ = enclosure.directory;
  impossible_ = enclosure.impossible;
  if (impossible_.empty()) start(enclosure);
}

Reserver::~Reserver() {
  if (!daemon_) return;
  kill(daemon_->pid(), SIGTERM);  // it restores the host
  (void)daemon_->wait(corelane::os::now() + patience_with_daemon);
}

void Reserver::start(const Enclosure& enclosure) {
  const std::string program = corelane::os::program_beside("corelane-reserved");
  if (!fs::exists(program)) return void(impossible_ = program + " was not built");
  daemon_.emplace(std::vector<std::string>{program, "-ORBRuntimeDirectory", directory_, "-ORBReservedRoot",
                                           "/" + enclosure.group, "-ORBReservedInterrupts", "off",
                                           "-ORBReservedBackend", "cgroup-v1", "-ORBLogLevel", "error"});
  const corelane::Time latest = corelane::os::now() + patience_with_daemon;
  while (!fs::exists(directory_ + "/reserved.ior")) {
    if (corelane::os::now() > latest) return void(impossible_ = program + " does not start: see what it said");
    pause(between_looks);
  }
}

bench_support::Samples run_beside(const Conditions& conditions, const Reserver& reserver,
                                  const std::vector<std::string>& command) {
  ChildProcess measured(conditions.cores > 0 ? reserved_command(conditions.cores, reserver.directory(), command)
                                             : command);
  expect_ready(measured, "what is measured");
  std::optional<ChildProcess> hogs;  // started afterwards: beside them the measured process takes seconds to start
  if (conditions.hogs > 0) {
    hogs.emplace(hogs_command(conditions.hogs));
    expect_ready(*hogs, "the threads beside it");
    pause(settling);
  }
  measured.write_line("GO");
  const std::string bytes = measured.read_all(corelane::os::now() + patience).value_or("");
  if (bytes.empty()) throw std::runtime_error("what is measured hangs, or gave up");
  if (bytes.starts_with("FAILED")) throw std::runtime_error(bytes.substr(0, bytes.find('\n')));
  bench_support::Samples numbers(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(std::uint64_t));
  return numbers;
}

}  // namespace interactivity
