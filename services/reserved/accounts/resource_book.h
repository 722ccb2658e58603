// ResourceBook records how much of the host's memory, cache ways and disk weight is promised to reservations.
// Threads: one at a time. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/reserved/accounts/model.h"

namespace corelane::reserved {

// What the promise of a resource means, see ResourcePromise in reservation.idl.
enum class ResourcePromise : std::uint8_t { guaranteed, exclusive, proportional, best_effort };

// How much of one resource this host can give.
struct ResourceOffer {
  Resource which = Resource::memory;
  std::uint64_t least = 1;  // per reservation
  // `most` limits the sum over all reservations; with ResourcePromise::proportional, each one. 0: the host has none.
  std::uint64_t most = 0;
  ResourcePromise promise = ResourcePromise::guaranteed;
  // `meaning` tells people what is promised. If the host has none, it says what is missing and how to fix that.
  std::string meaning{};
};

class ResourceBook {
 public:
  ResourceBook();

  // Sets what can be reserved. A resource that is not in `offers` is not available.
  void offer(std::vector<ResourceOffer> offers);
  const std::vector<ResourceOffer>& offers() const noexcept { return offers_; }
  // Returns what all reservations have together; for a proportional resource, the sum of their weights.
  std::uint64_t promised(Resource which) const noexcept { return booked_[static_cast<std::size_t>(which)]; }
  // Returns what the kernel has not yet taken back from reservations that ended. It belongs to no reservation and
  // cannot be given away.
  std::uint64_t held(Resource which) const noexcept { return held_[static_cast<std::size_t>(which)]; }

  // Returns what is wrong with the request itself, whatever other reservations have.
  std::optional<Refusal> fault_of(const std::vector<ResourceWanted>& wanted, Extent extent) const;
  bool has_room(const std::vector<ResourceWanted>& wanted) const;
  // lack_text() says which resource is short now, fit_text() how much of it would fit. Both return "" if there is
  // nothing to say.
  std::string lack_text(const std::vector<ResourceWanted>& wanted) const;
  std::string fit_text(const std::vector<ResourceWanted>& wanted) const;

  void book(const std::vector<ResourceWanted>& wanted);
  void give_back(const std::vector<ResourceWanted>& wanted);
  void hold(const ResourceAmounts& held) { held_ = held; }

 private:
  const ResourceOffer& offer_of(Resource which) const { return offers_[static_cast<std::size_t>(which)]; }
  std::optional<Refusal> fault_of(const ResourceWanted& wanted) const;
  std::uint64_t room(Resource which) const noexcept;
  const ResourceWanted* lacking(const std::vector<ResourceWanted>& wanted) const;

  std::vector<ResourceOffer> offers_;  // one per resource, in the order of all_resources
  ResourceAmounts booked_{}, held_{};
};

// Formats an amount: "256 MiB", "2 ways", "weight 300".
std::string amount_text(Resource which, std::uint64_t amount);

}  // namespace corelane::reserved
