// GroupAmounts: memory and disk by cgroup v2. The group of a reservation has its amount, and the group of its set the
// sum of them: memory.min is worth what the groups above it have, too, and a weight counts among siblings alone.
// Threads: as Backend.
#pragma once

#include <map>
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

 private:
  struct Given {
    std::string group;
    std::uint64_t amount;
  };
  Done<void> set_sum(const std::string& set_group);

  const Host host_;
  const Means means_;
  ControllerSwitch switch_;
  std::map<ReservationId, Given> given_{};
};

}  // namespace corelane::reserved
