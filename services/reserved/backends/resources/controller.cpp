#include "services/reserved/backends/resources/controller.h"

#include <algorithm>

namespace corelane::reserved {

Done<void> fault_of_unseen(const ProcessTable& processes, int pid) {
  if (!processes.exists(pid)) return {};
  return "process " + std::to_string(pid) +
         " cannot be looked at in /proc; is no descriptor left? Raise LimitNOFILE of corelane-reserved";
}

std::vector<ResourceOffer> Resources::offers() const {
  std::vector<ResourceOffer> offers;
  for (const auto& controller : controllers_) offers.push_back(controller->offer());
  return offers;
}

Done<Remarks> Resources::give(const Enter& command, const std::string& group) {
  Remarks remarks;
  for (const auto& controller : controllers_) {
    const ResourceOffer offer = controller->offer();
    const auto wanted = std::ranges::find(command.also, offer.which, &ResourceWanted::which);
    if (wanted == command.also.end()) continue;
    const std::string name = name_of(offer.which);
    auto given =
        controller->give({.id = command.id, .holder = command.holder, .group = group, .amount = wanted->amount});
    if (!given) return Unexpected{name + ": " + given.error()};
    remarks.push_back(name + " " + amount_text(offer.which, wanted->amount) + ": " + offer.meaning);
    remarks.insert(remarks.end(), given->begin(), given->end());
  }
  return remarks;
}

void Resources::take(ReservationId id) {
  for (const auto& controller : controllers_) controller->take(id);
}

ResourceAmounts Resources::held() const {
  ResourceAmounts held{};
  for (const auto& controller : controllers_)
    held[static_cast<std::size_t>(controller->offer().which)] += controller->held();
  return held;
}

void Resources::sweep() {
  for (const auto& controller : controllers_) controller->sweep();
}

}  // namespace corelane::reserved
