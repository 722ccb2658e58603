// CacheWays reserves ways of the last-level cache with resctrl (Intel RDT, AMD QoS). A reservation gets a resctrl group
// whose ways no other group has, in each last-level cache. All other programs share the remaining ways. These are one
// contiguous piece, as processors require.
//
//   /sys/fs/resctrl/corelane-c17   the threads of reservation 17; mode exclusive
//
// The lowest ways are given first. On most processors devices fill the highest ways, too.
// Threads: as Backend.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "services/reserved/backends/resources/controller.h"

namespace corelane::reserved {

using WayMask = std::uint64_t;

class CacheWays final : public Controller {
 public:
  explicit CacheWays(const Host& host);

  ResourceOffer offer() const override { return offer_; }
  Done<Remarks> give(const Portion& portion) override;
  void take(ReservationId id) override;
  std::uint64_t held() const override;
  void sweep() override;

 private:
  struct Given {
    WayMask mask = 0;
    std::string from{};  // the group of this daemon that its process was in before; "": none
  };
  std::string group_of(ReservationId id) const { return "corelane-c" + std::to_string(id.value); }
  WayMask given_ways() const;  // including groups that are still to be removed
  WayMask common_before() const;
  void take_over_left();
  bool is_own(const std::string& group) const;
  std::map<std::string, WayMask> groups_of_others() const;
  WayMask ways_of_others() const;
  std::string others_text() const;
  std::optional<WayMask> free_run(int ways) const;
  const JournalEntry* kept_before() const;  // null: not in the journal
  JournalEntry entry_before() const;
  Done<void> make_group(const std::string& group, WayMask ways);
  Done<void> shrink_common();
  Done<void> widen_common();
  int remove_left(const std::string& group);  // 0 or an errno
  Done<void> bring_in(const Portion& portion, const std::string& group);
  std::map<int, std::string> groups_of_threads() const;

  const Host host_;
  ResourceOffer offer_{};
  WayMask all_ = 0, shared_with_devices_ = 0;
  int least_ = 1;  // smallest number of ways of a group
  std::map<ReservationId, Given> given_{};
  // Groups of ended reservations that could not be removed yet, including those of a daemon that was killed.
  std::map<std::string, WayMask> left_{};
  bool is_too_narrow_ = false;       // the root group, because it could not be written
  std::map<int, WayMask> before_{};  // the root group's masks before the first grant; by cache
};

// Reads the masks of the caches from a schemata file: "L3:0=ff;1=ff" has two.
std::map<int, WayMask> parse_schemata(std::string_view text);
std::string schemata_text(const std::map<int, WayMask>& masks);
// Returns the longest run of ones; of equally long runs, the highest.
WayMask longest_run(WayMask mask) noexcept;

}  // namespace corelane::reserved
