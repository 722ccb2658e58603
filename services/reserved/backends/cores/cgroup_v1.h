// CgroupV1 implements sets of cores as cpusets of cgroup v1, and shares of process trees as groups of its cpu
// controller.
//
//   <root>/corelane-default     all that is movable
//   <root>/corelane-r17         whole cores of reservation 17
//   <root>/corelane-s3          core 3, for holders of shares of it
//   <cpu root>/corelane-b18     limits the tree of reservation 18 to its share
//
// A set is exclusive if its parent is. A process that was in another program's cpuset goes back there.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "services/reserved/backends/backend.h"
#include "services/reserved/backends/cores/bindings.h"
#include "services/reserved/backends/cores/deadline_threads.h"
#include "services/reserved/backends/cores/memory_of_threads.h"
#include "services/reserved/backends/made_groups.h"

namespace corelane::reserved {

class CgroupV1 final : public Backend {
 public:
  // `root`: the group below which all groups are made, in both hierarchies; "" is their root. host.cpu may be null.
  CgroupV1(const Host& host, std::string root);

  BackendReport report() const override;
  bool enforces() const override { return true; }
  Done<StartReport> start(const std::vector<CoreId>& all) override;
  std::vector<Lost> sweep() override;
  std::vector<CoreId> held() const override;
  bool is_waiting() const override { return deadlines_.is_waiting() || common_ != wanted_; }
  Done<void> set_common(const std::vector<CoreId>& cores) override;
  Done<void> make_set(const SetName& set, const Place& place) override;
  void remove_set(const SetName& set) override;
  Done<Remarks> enter(const Enter& command) override;
  void leave(ReservationId id) override;
  Done<void> join(const SetName& set, const Process& service) override;
  void part(const Process& service, ReservationId home) override;
  Members processes_of(ReservationId id) const override;
  Controllers controllers() const override;

 private:
  struct Member {
    Holder holder{};
    std::string group{};      // in the cpuset hierarchy
    std::string bandwidth{};  // in the cpu hierarchy; "" for none
    std::string home{};       // in the cpuset hierarchy, for processes without a recorded group
    Process thread{};         // if extent is thread
  };

  std::string in_root(const std::string& name) const { return joined_path(root_, name); }
  std::string common_group() const { return in_root(default_group); }
  Done<void> fill(const std::string& group, const std::vector<CoreId>& cores) const;
  std::vector<CoreId> missing() const;
  Done<void> apply_common();
  void mend_common();
  Remarks intruders(const std::string& group) const;
  Done<void> switch_balancing_off();
  void build_domains_anew();
  Done<Remarks> enter_thread(Member& member, const Enter& command);
  Done<Remarks> enter_processes(Member& member, const Enter& command);
  Done<void> hold_to_share(const Member& member, int pid);
  Done<void> enter_bandwidth(Member& member, const Enter& command);
  Done<void> move_process(int pid, const std::string& group);
  std::string home_of(int id) const;
  bool is_ours(const std::string& group) const;
  bool has_own_set(int pid) const;
  void send_home(int pid, const std::string& otherwise);
  void go_home(const std::string& home, const char* list, int id);
  void leave_thread(const Member& member);

  const Host host_;
  const std::string root_;
  ThreadMemory memory_;
  Bindings bindings_;
  DeadlineThreads deadlines_;
  std::string mems_{};      // memory nodes of the root
  bool exclusive_ = false;  // whether the root is exclusive, so that sets can be
  std::vector<CoreId> all_{};
  std::vector<CoreId> common_{};  // cores that the default set has
  std::vector<CoreId> wanted_{};  // cores that it should have
  std::set<int> stayed_{};        // threads that could not be moved out of the root
  std::map<ReservationId, Member> members_{};
  MadeGroups made_;
  Guests guests_{};
};

}  // namespace corelane::reserved
