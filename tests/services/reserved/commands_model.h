// Simulates the commands of the accounts and checks each: sets must not overlap, and each member must be in a set that
// exists.
// Threads: one.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "services/reserved/accounts/accounts.h"
#include "services/reserved/accounts/core_sets.h"

namespace corelane::testing {

class CommandsModel {
 public:
  explicit CommandsModel(std::vector<CoreId> all) : common(std::move(all)) {}

  void carry_out(const reserved::Commands& commands) {
    for (const reserved::Command& command : commands) {
      std::visit([this](const auto& one) { on(one); }, command);
      check();
    }
  }

  std::vector<CoreId> common;
  std::map<std::string, reserved::Place> sets;
  std::map<reserved::ReservationId, std::string> members;
  std::vector<std::string> faults;  // errors, in their order

 private:
  void on(const reserved::SetCommon& command) { common = command.cores; }
  void on(const reserved::MakeSet& command) {
    if (!sets.emplace(command.set, command.place).second) faults.push_back("made twice: " + command.set);
  }
  void on(const reserved::RemoveSet& command) {
    for (const auto& [id, set] : members)
      if (set == command.set) faults.push_back("removed with members: " + set);
    if (sets.erase(command.set) == 0) faults.push_back("not there: " + command.set);
  }
  void on(const reserved::Enter& command) {
    if (!sets.contains(command.set)) faults.push_back("entered, and not there: " + command.set);
    members[command.id] = command.set;
  }
  void on(const reserved::Exit& command) {
    if (members.erase(command.id) == 0) faults.push_back("left, and was not there");
  }
  void on(const reserved::Join& command) {
    if (!sets.contains(command.set)) faults.push_back("joined, and not there: " + command.set);
  }
  void on(const reserved::Part& command) {
    if (command.home != reserved::no_reservation && !members.contains(command.home))
      faults.push_back("home is gone: " + std::to_string(command.home.value));
  }
  void on(const reserved::Granted&) {}
  void on(const reserved::Queued&) {}
  void on(const reserved::Refused&) {}
  void on(const reserved::LeaseOver&) {}

  void check() {
    if (common.empty()) faults.push_back("the default set is empty");
    std::vector<CoreId> seen = common;
    for (const auto& [name, place] : sets)
      for (const auto* part : {&place.cores, &place.idle}) {
        if (!reserved::common_to(seen, *part).empty()) faults.push_back("overlaps: " + name);
        seen = reserved::joined(seen, *part);
      }
  }
};

}  // namespace corelane::testing
