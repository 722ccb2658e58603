#include "examples/pendulum/reservations.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <utility>

#include "examples/pendulum/table.h"
#include "orb/core/runtime.h"
#include "orb/os/clock.h"
#include "reservationC.h"

namespace corelane::pendulum {
namespace {

namespace rs = Corelane::Reservation;
using namespace std::chrono_literals;

constexpr const char* name_of_daemon = "corelane-reserved";

using DaemonRef = IDL::traits<rs::Server>::ref_type;

// Returns nil if the daemon does not answer.
DaemonRef daemon_at(CORBA::ORB& orb, const std::string& file) try {
  if (::access(file.c_str(), R_OK) != 0) return {};
  return IDL::traits<rs::Server>::narrow(orb.string_to_object("file://" + file));
} catch (const CORBA::Exception&) {
  return {};
}

std::string words_of_cores(const std::vector<std::int16_t>& cores) {
  std::string text;
  for (const std::int16_t core : cores) text += (text.empty() ? "" : " ") + std::to_string(core);
  return text;
}

// Counts the physical cores whose hardware threads are all in the default set. If one is not, its siblings are not
// given to anybody.
int whole_cores(const rs::CoreStateList& cores) {
  std::map<int, bool> free;
  for (const rs::CoreState& core : cores)
    free.try_emplace(core.physical_core(), true).first->second &= core.use() == rs::CoreUse::common;
  int count = 0;
  for (const auto& [core, is_free] : free) count += is_free ? 1 : 0;
  return count;
}

}  // namespace

Reservations::Reservations(Reserving reserving, const std::string& directory, const OrbOptions& given, CORBA::ORB& orb)
    : reserving_(reserving),
      directory_(reserving == Reserving::own ? directory : core::runtime_directory_of(orb.settings())),
      reference_file_(directory_ + "/reserved.ior"),
      socket_(reserving == Reserving::own ? directory + "/reserved.sock" : core::reservation_socket(orb.settings())),
      orb_(orb),
      daemon_(command(given), [this](os::ChildProcess& program) { return is_ready(program); }) {
  if (reserving_ == Reserving::off) return;
  if (reserving_ == Reserving::host) facts_ = ask();  // the host's daemon may run already
  if (!facts_.known) start_daemon();
}

std::vector<std::string> Reservations::command(const OrbOptions& given) const {
  OrbOptions words{os::program_beside(name_of_daemon), "-ORBLogLevel", "error", "-ORBReservedUsers",
                   std::to_string(::geteuid())};
  const auto wanted = options_of({"-ORBReserved", "-ORBLog", "-ORBConfig"}, given);
  words.insert(words.end(), wanted.begin(), wanted.end());
  if (reserving_ == Reserving::own)
    words.insert(words.end(), {"-ORBRuntimeDirectory", directory_, "-ORBReservedSocket", socket_,
                               "-ORBReservedProcesses", std::to_string(::getpid())});
  return words;
}

// The daemon writes the file when it serves. A killed daemon leaves its file behind.
bool Reservations::start_daemon() {
  std::remove(reference_file_.c_str());
  return daemon_.start();
}

// Keeps the facts of the first daemon only: later ones are asked while the service already has cores.
bool Reservations::is_ready(os::ChildProcess& program) {
  const Time latest = os::now() + 20s;
  Facts found;
  while (!(found = ask()).known)  // an answer takes longer while this machine is loaded
    if (program.wait(os::now() + 10ms) || os::now() > latest) return false;
  if (!facts_.known) facts_ = std::move(found);
  return true;
}

Reservations::Facts Reservations::ask() const try {
  const auto daemon = daemon_at(orb_, reference_file_);
  if (!daemon) return {};
  const rs::Status status = daemon->state();
  const rs::CoreStateList cores = daemon->cores();
  std::vector<std::int16_t> free;
  for (const rs::CoreState& core : cores)
    if (core.use() == rs::CoreUse::common) free.push_back(core.core());
  return {.known = true,
          .process = status.pid(),
          .cores_to_give = whole_cores(cores),
          .backend = status.backend(),
          .free = words_of_cores(free)};
} catch (const CORBA::Exception&) {
  return {};
}

std::vector<std::string> Reservations::introduction() const {
  if (reserving_ == Reserving::off) return {"no core is reserved, as --reserve off says: the service shares its cores"};
  if (!facts_.known)
    return {std::string(name_of_daemon) +
            " could not be started; what it said stands above. The service shares its cores with others"};
  const bool ours = daemon_.pid() > 0;
  std::vector<std::string> lines{format("%s, process %d%s: backend %s; cores to give: %s", name_of_daemon,
                                        facts_.process, ours ? "" : " (it runs already)", facts_.backend.c_str(),
                                        facts_.free.empty() ? "none" : facts_.free.c_str())};
  lines.emplace_back(
      reserving_ == Reserving::own
          ? "  it moves the demo's processes alone: others may still run on those cores; --reserve host "
            "keeps them off"
          : "  for all of this host, as --reserve host says: every program that can be moved keeps off "
            "reserved cores until the demo ends; corelane cores --long says what this host cannot promise");
  if (facts_.cores_to_give == 0)
    lines.emplace_back(
        "  no core can be reserved: the first physical core stays with all processes, and there is no other. The "
        "service shares its cores");
  return lines;
}

OrbOptions Reservations::service_options() const {
  if (facts_.cores_to_give == 0) return {"-ORBReservedUse", "off"};
  return {"-ORBReservedSocket", socket_, "-ORBReservedCores", std::to_string(facts_.cores_to_give)};
}

std::string Reservations::cores_of(pid_t process) const try {
  const auto daemon = facts_.known ? daemon_at(orb_, reference_file_) : DaemonRef{};
  if (!daemon) return {};
  for (const rs::Account& account : daemon->accounts())
    if (account.whose().who().pid() == process && !account.waiting()) return words_of_cores(account.cores());
  return {};
} catch (const CORBA::Exception&) {
  return {};
}

std::string Reservations::whose() const {
  return reserving_ == Reserving::own ? ", which the demo's other processes keep off" : " for itself";
}

std::vector<std::string> Reservations::attend(pid_t service) {
  std::vector<std::string> lines;
  if (const auto end = daemon_.ended()) {
    lines.push_back(std::string(name_of_daemon) + " ended (" + end->text() +
                    "): the service keeps its cores, and no core is given or taken meanwhile");
    if (restarts_left_-- > 0 && start_daemon()) {
      service_waits_ = facts_.cores_to_give > 0;
      lines.push_back(format("%s runs again, as process %d: it has put back what the other one had changed",
                             name_of_daemon, daemon_.pid()));
    } else {
      lines.emplace_back("it is not started again: what it said stands above");
    }
  }
  if (!service_waits_) return lines;
  const std::string cores = cores_of(service);
  if (cores.empty()) return lines;
  service_waits_ = false;
  lines.push_back("the service has asked again, and has " +
                  (cores.find(' ') == cores.npos ? std::string("core ") : std::string("cores ")) + cores + whose());
  return lines;
}

}  // namespace corelane::pendulum
