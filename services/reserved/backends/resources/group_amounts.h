// GroupAmounts reserves memory and disk with cgroup v2. The group of a reservation has its amount, and the group of its
// set has the sum of the amounts. The sum is needed because memory.min counts only up to what the groups above have,
// and a weight counts only among siblings.
// Threads: as Backend.
#pragma once

#include <map>
#include <set>
#include <string>

#include "services/reserved/backends/resources/controller.h"
#include "services/reserved/backends/resources/controller_switch.h"

namespace corelane::reserved {

class GroupAmounts final : public Controller {
 public:
  struct Means {
    std::string controller{};  // "memory"
    std::string file{};        // "memory.min"
    std::string none{};        // content of the file if nothing is reserved
    ResourceOffer offer{};     // `most` also limits the file of a set's group
  };
  GroupAmounts(const Host& host, const std::string& root, Means means);

  ResourceOffer offer() const override { return means_.offer; }
  Done<Remarks> give(const Portion& portion) override;
  void take(ReservationId id) override;
  std::uint64_t held() const override;
  void sweep() override;

 private:
  struct Given {
    std::string group;
    std::uint64_t amount;
  };
  bool is_there(const std::string& group) const;
  Done<void> write(const std::string& group, std::uint64_t amount);
  std::uint64_t given_in(const std::string& set_group) const;
  // Returns the sum that the set's group needs. It includes groups of ended reservations, which otherwise would take
  // from what the others are promised.
  std::uint64_t sum_in(const std::string& set_group) const;
  Done<void> write_sum(const std::string& set_group);
  bool is_done(const std::string& group, const Done<void>& done);

  const Host host_;
  const Means means_;
  ControllerSwitch switch_;
  std::map<ReservationId, Given> given_{};
  std::map<std::string, std::uint64_t> left_{};  // groups of ended reservations whose files still contain this amount
  std::map<std::string, std::uint64_t> sums_{};  // what the files of the sets' groups contain
  std::set<std::string> told_{};                 // groups whose fault is already in the log
};

}  // namespace corelane::reserved
