// CgroupV2 implements sets of cores as partitions of cgroup v2. The kernel itself keeps all other processes off a
// partition's cores. So there is no default set, and no other process has to be moved.
//
//   <root>/corelane-r17              a partition: the cores of reservation 17, with those that stay idle
//   <root>/corelane-r17/m17          its processes, on its cores without the idle ones
//   <root>/corelane-s3/m18           processes of reservation 18, limited to their share (cpu.max) of core 3
//
// A process goes back to the group that it came from. A process that was started meanwhile goes to the group that the
// reservation's first process came from.
//
// The folder services/reserved/backends/cores reserves cores: control groups of both versions, and affinity where there
// are none.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "services/reserved/backends/backend.h"
#include "services/reserved/backends/cores/bindings.h"
#include "services/reserved/backends/cores/deadline_threads.h"
#include "services/reserved/backends/cores/memory_of_threads.h"
#include "services/reserved/backends/resources/controller_switch.h"

namespace corelane::reserved {

class CgroupV2 final : public Backend {
 public:
  // `root`: the group below which all groups are made; "" is the hierarchy's root. Any other root must be a partition,
  // or the kernel must be 6.7 or later (remote partitions).
  CgroupV2(const Host& host, std::string root);

  BackendReport report() const override;
  bool enforces() const override { return true; }
  Done<StartReport> start(const std::vector<CoreId>& all) override;
  std::vector<Lost> sweep() override;
  bool is_waiting() const override { return deadlines_.is_waiting(); }
  Done<void> set_common(const std::vector<CoreId>&) override { return {}; }  // the kernel does it
  Done<void> make_set(const SetName& set, const Place& place) override;
  void remove_set(const SetName& set) override;
  Done<Remarks> enter(const Enter& command) override;
  void leave(ReservationId id) override;
  Done<void> join(const SetName& set, const Process& service) override;
  void part(const Process& service, ReservationId home) override;
  Members processes_of(ReservationId id) const override;
  Controllers controllers() const override;
  std::string group_of(ReservationId id) const override;

 private:
  struct Member {
    Holder holder{};
    std::string group{};
    std::string home{};
    Process thread{};  // if extent is thread
  };

  std::string set_group(const SetName& set) const { return joined_path(root_, group_name(set)); }
  static std::string member_name(const std::string& number) { return "m" + number; }
  Done<void> make_group(const std::string& path, const std::string& home);
  void remove_group(const std::string& path);
  Done<void> make_partition(const std::string& group, const std::vector<CoreId>& cores);
  Done<void> make_member(const Member& member, const Enter& command);
  Done<void> bring_in(const Member& member);
  Done<Remarks> make_deadline(Member& member, const Enter& command);
  Done<void> move_process(int pid, const std::string& group);
  void send_home(int pid, const std::string& otherwise);
  bool is_ours(const std::string& group) const { return group.starts_with(joined_path(root_, "corelane-")); }

  const Host host_;
  GroupFiles& groups_;
  const std::string root_;
  ThreadMemory memory_;
  Bindings bindings_;
  DeadlineThreads deadlines_;
  ControllerSwitch switch_;
  bool has_cpu_ = false;  // whether the cpu controller is on, which shares of trees need
  std::map<SetName, Place> sets_{};
  std::map<ReservationId, Member> members_{};
  std::set<std::string> left_{};     // groups that could not be removed yet
  int patience_ = removal_patience;  // rounds left to wait for removals, all groups together, until the next sweep()
  Guests guests_{};
};

}  // namespace corelane::reserved
