// ResourceBook: how much of what the host has besides cores is promised: memory, ways of the cache, weights of the
// disk. Threads: one at a time. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/reserved/accounts/model.h"

namespace corelane::reserved {

// What a promise of a resource is worth, see ResourcePromise in reservation.idl.
enum class ResourcePromise : std::uint8_t { guaranteed, exclusive, proportional, best_effort };

// What this host has to give of one resource.
struct ResourceOffer {
  Resource which = Resource::memory;
  std::uint64_t least = 1;  // of one reservation
  std::uint64_t most = 0;   // of all together, or where it is proportional of each; 0: there is none
  ResourcePromise promise = ResourcePromise::guaranteed;
  std::string meaning{};  // for people: what is promised; of one that there is none of: what is missing, what mends it
};

class ResourceBook {
 public:
  ResourceBook();

  // A resource that is not among them is not to be had.
  void offer(std::vector<ResourceOffer> offers);
  const std::vector<ResourceOffer>& offers() const noexcept { return offers_; }
  // By all; where it is proportional the sum of the weights.
  std::uint64_t promised(Resource which) const noexcept { return booked_[static_cast<std::size_t>(which)]; }
  // Of reservations that ended, what the kernel has not taken back yet: nobody's, and for nobody.
  std::uint64_t held(Resource which) const noexcept { return held_[static_cast<std::size_t>(which)]; }

  // What is wrong with the request, whatever is promised to others.
  std::optional<Refusal> fault_of(const std::vector<ResourceWanted>& wanted, Extent extent) const;
  bool has_room(const std::vector<ResourceWanted>& wanted) const;
  // What there is not enough of now, and what of it would fit; "": nothing.
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

  std::vector<ResourceOffer> offers_;  // one of each, in the order of all_resources
  ResourceAmounts booked_{}, held_{};
};

// "256 MiB", "2 ways", "weight 300".
std::string amount_text(Resource which, std::uint64_t amount);

}  // namespace corelane::reserved
