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
  void sweep() override;

 private:
  struct Given {
    std::string group;
    std::uint64_t amount;
  };
  // What the reservations have whose group this is, or is that of their set.
  Done<void> write_amount(const std::string& group);
  // The same after a reservation has ended: what cannot be written is kept for sweep().
  void lower(const std::string& group);

  const Host host_;
  const Means means_;
  ControllerSwitch switch_;
  std::map<ReservationId, Given> given_{};
  std::set<std::string> overstated_{};  // groups whose file says more than the reservations there have
};

}  // namespace corelane::reserved
