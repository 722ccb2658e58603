#include "orb/core/skeleton.h"

#include <algorithm>

#include "orb/core/text/spelling.h"

namespace corelane::core {
namespace {

// Limits of comparing a peer's name: the reader thread, which all connections share, does it.
constexpr std::size_t longest_name = 32, most_compared = 16;

// "IDL:Plant/Controller:1.0" -> "Plant/Controller".
std::string_view shortened(std::string_view repository_id) noexcept {
  if (repository_id.starts_with("IDL:")) repository_id.remove_prefix(4);
  return repository_id.substr(0, repository_id.rfind(':'));
}

// "Plant::Controller::step", "Plant/Controller.step" -> "step".
std::string_view last_part(std::string_view name) {
  const std::size_t end = name.find_last_of(":./");
  return end == name.npos ? name : name.substr(end + 1);
}

// Returns the operations whose names are about as long as `name`; none if there are too many to compare.
std::vector<std::string> similar_to(std::string_view name, const Skeleton& skeleton) {
  constexpr std::size_t slips = 3;
  std::vector<std::string> found;
  for (const Upcall& upcall : skeleton.upcalls) {
    const std::size_t shorter = std::min(upcall.name.size(), name.size());
    const std::size_t longer = std::max(upcall.name.size(), name.size());
    if (longer - shorter > slips || longer > longest_name) continue;
    if (found.size() == most_compared) return {};
    found.emplace_back(upcall.name);
  }
  return found;
}

}  // namespace

const Upcall* Skeleton::find(std::string_view name) const noexcept {
  const auto at = std::lower_bound(upcalls.begin(), upcalls.end(), name,
                                   [](const Upcall& upcall, std::string_view n) { return upcall.name < n; });
  return at != upcalls.end() && at->name == name ? &*at : nullptr;
}

bool Skeleton::is_a(std::string_view repository_id) const noexcept {
  return std::any_of(ids.begin(), ids.end(), [&](const char* id) { return repository_id == id; }) ||
         repository_id == "IDL:omg.org/CORBA/Object:1.0";
}

bool Skeleton::has_contracts() const noexcept {
  return std::any_of(upcalls.begin(), upcalls.end(), [](const Upcall& upcall) { return upcall.contract != nullptr; });
}

std::string_view short_id(const Skeleton& skeleton) noexcept {
  return skeleton.ids.empty() ? std::string_view() : shortened(skeleton.ids.front());
}

std::string label_of(std::string_view repository_id, std::string_view operation) {
  const std::string interface(shortened(repository_id));
  return (interface.empty() ? "" : interface + ".") + std::string(operation);
}

std::string label_of(const Skeleton& skeleton, const Upcall& upcall) {
  return label_of(skeleton.ids.empty() ? "" : skeleton.ids.front(), upcall.name);
}

OperationContracts declared_contracts(const Skeleton& skeleton) {
  if (!skeleton.has_contracts()) return {};
  OperationContracts contracts(skeleton.upcalls.size());
  for (std::size_t i = 0; i < contracts.size(); ++i)
    if (const Contract* contract = skeleton.upcalls[i].contract) contracts[i] = *contract;
  return contracts;
}

std::string unknown_operation(const Skeleton& skeleton, std::string_view name) {
  constexpr std::size_t longest_shown = 64;
  const std::string interface = skeleton.ids.empty() ? "the object" : skeleton.ids.front();
  std::string text = interface + " has no operation " + std::string(name.substr(0, longest_shown));
  if (name.size() > longest_shown) return text + "...";
  const std::string part(last_part(name));
  for (const std::string& read : {part, "_get_" + part})
    if (const Upcall* upcall = skeleton.find(read)) return text + "; write " + std::string(upcall->name);
  return text + meant(part, similar_to(part, skeleton), "the nearest is");
}

}  // namespace corelane::core
