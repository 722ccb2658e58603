// OwnGroups reserves memory and disk with cgroup v1, where each has a hierarchy of its own. The processes of a
// reservation move into a new group below their present one, so the limits of that one still hold.
//
//   <group of the process>/corelane-m17   the processes of reservation 17
//
// Threads: as Backend.
#pragma once

#include <map>
#include <string>

#include "services/reserved/backends/made_groups.h"
#include "services/reserved/backends/resources/controller.h"

namespace corelane::reserved {

class OwnGroups final : public Controller {
 public:
  struct Means {
    GroupFiles* groups = nullptr;
    std::string hierarchy{};  // "memory", as in /proc/<pid>/cgroup
    std::string file{};       // "memory.soft_limit_in_bytes"
    ResourceOffer offer{};
  };
  OwnGroups(const Host& host, Means means);

  ResourceOffer offer() const override { return means_.offer; }
  Done<Remarks> give(const Portion& portion) override;
  void take(ReservationId id) override;
  std::uint64_t held() const override;
  void sweep() override;

 private:
  struct Given {
    std::string group{};
    // `from`: the group that the process was in. It belongs to this program if the process is in a tree with a
    // reservation.
    std::string from{};
    // `home`: the same group, or in that case the group around it.
    std::string home{};
    std::uint64_t amount = 0;
  };
  Done<unsigned> bring_in(const Portion& portion, const Given& given);
  void forget_removed();

  const Host host_;
  const Means means_;
  MadeGroups made_;
  std::map<ReservationId, Given> given_{};
  std::map<std::string, std::uint64_t> left_{};  // amounts of groups that a process which is slow to end keeps
};

}  // namespace corelane::reserved
