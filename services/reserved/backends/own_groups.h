// OwnGroups: memory and disk by cgroup v1, each a hierarchy of its own: the processes of a reservation come into a
// group below the one that they are in, whose bounds hold for them as before.
//
//   <group of the process>/corelane-m17   those of reservation 17
//
// Threads: as Backend.
#pragma once

#include <map>
#include <string>

#include "services/reserved/backends/controller.h"
#include "services/reserved/backends/made_groups.h"

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
    std::string from{};  // where the process was: of this program, too, where it is of a tree that has a reservation
    std::string home{};  // the same or, then, the group around that
    std::uint64_t amount = 0;
  };
  Done<unsigned> bring_in(const Portion& portion, const Given& given);
  void forget_removed();

  const Host host_;
  const Means means_;
  MadeGroups made_;
  std::map<ReservationId, Given> given_{};
  std::map<std::string, std::uint64_t> left_{};  // of groups that a process which takes long to end keeps
};

}  // namespace corelane::reserved
