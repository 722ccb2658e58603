// GroupAmounts: memory and disk by cgroup v2. The group of a reservation has its amount, and the group of its set the
// sum of them: memory.min is worth what the groups above it have, too, and a weight counts among siblings alone.
// Threads: as Backend.
#pragma once

#include <map>
#include <set>
#include <string>

#include "services/reserved/backends/controller.h"
#include "services/reserved/backends/controller_switch.h"

namespace corelane::reserved {

class GroupAmounts final : public Controller {
 public:
  struct Means {
    std::string controller{};  // "memory"
    std::string file{};        // "memory.min"
    std::string none{};        // what it says where there is nothing reserved
    ResourceOffer offer{};     // `most`: also of what a set's group may say
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
  // What the groups below it have, those that are left, too: else they would take of what the others are promised.
  std::uint64_t sum_in(const std::string& set_group) const;
  Done<void> write_sum(const std::string& set_group);
  bool is_done(const std::string& group, const Done<void>& done);

  const Host host_;
  const Means means_;
  ControllerSwitch switch_;
  std::map<ReservationId, Given> given_{};
  std::map<std::string, std::uint64_t> left_{};  // groups of reservations that ended, whose files still say this
  std::map<std::string, std::uint64_t> sums_{};  // what the files of the sets' groups say
  std::set<std::string> told_{};                 // groups whose fault the log has
};

}  // namespace corelane::reserved
