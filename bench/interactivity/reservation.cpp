#include "bench/interactivity/reservation.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <system_error>

#include "orb/corba/orb.h"
#include "orb/os/clock.h"
#include "reservationC.h"

namespace interactivity {
namespace {

namespace Rs = Corelane::Reservation;

constexpr std::chrono::milliseconds between_questions{5}, patience_for_cores{60'000};

auto server_of(const std::string& directory) {
  std::vector<std::string> words{"corelane-bench-interactivity", "-ORBRuntimeDirectory", directory};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  auto orb = CORBA::ORB_init(count, arguments.data());
  return IDL::traits<Rs::Server>::narrow(orb->string_to_object("file://" + directory + "/reserved.ior"));
}

// Waits for the cores if necessary: the process that had them before may have ended a moment ago.
void reserve(unsigned cores, const std::string& directory) try {
  const auto server = server_of(directory);
  const Rs::Holder holder{Rs::Process{0, 0}, Rs::Scope::process_tree, 0};
  const Rs::CoresWanted wanted{
      static_cast<std::uint16_t>(cores), {}, Rs::Nearness::near, Rs::SiblingRule::siblings_idle};
  Rs::Grant grant = server->reserve_cores(holder, wanted, Rs::Terms{0, true, "events and computation"});
  const corelane::Time latest = corelane::os::now() + patience_for_cores;
  while (grant.waiting()) {
    if (corelane::os::now() > latest) throw std::runtime_error("no cores became free");
    corelane::os::sleep_until(corelane::os::now() + between_questions);
    grant = server->look(grant.reservation());
  }
} catch (const Rs::Refused& refusal) {
  throw std::runtime_error("refused: " + refusal.reason());
}

}  // namespace

void become_reserved(unsigned cores, const std::string& directory, const std::vector<std::string>& command) {
  reserve(cores, directory);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments.at(0), arguments.data());
  throw std::system_error(errno, std::generic_category(), command.at(0));
}

}  // namespace interactivity
