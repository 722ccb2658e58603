// AffinityOnly implements sets of cores as affinity masks of threads. It is for hosts without control groups. A thread
// can widen its own mask at any time; only sweep(), now and then, sets such a mask back. Masks change in settle() only.
// So threads move directly from their old cores to the new ones. They do not pass through the cores that the default
// set has in between, where real-time threads would delay each other.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "services/reserved/backends/backend.h"
#include "services/reserved/backends/cores/memory_of_threads.h"

namespace corelane::reserved {

class AffinityOnly final : public Backend {
 public:
  explicit AffinityOnly(const Host& host) : host_(host), memory_(host_) {}

  BackendReport report() const override;
  bool enforces() const override { return false; }
  std::string share_fault() const override;
  Done<StartReport> start(const std::vector<CoreId>& all) override;
  std::vector<Lost> sweep() override;
  Done<void> set_common(const std::vector<CoreId>& cores) override;
  Done<void> make_set(const SetName& set, const Place& place) override;
  void remove_set(const SetName& set) override { sets_.erase(set); }
  std::vector<Lost> settle() override;
  void look() override;
  void look_at(const Process& process) override;
  Done<Remarks> enter(const Enter& command) override;
  void leave(ReservationId id) override;
  Done<void> join(const SetName& set, const Process& service) override;
  void part(const Process& service, ReservationId home) override;
  Members processes_of(ReservationId id) const override;
  Controllers controllers() const override;

 private:
  struct Member {
    Holder holder{};
    SetName set{};
    std::map<int, Process> processes{};  // seen and alive; for Extent::tree, all of the tree
  };

  // A service that works on a client's cores.
  struct Guest {
    Process service{};
    SetName set{};
  };

  std::vector<Process> line_of(const Process& process) const;
  StartReport apply_to_all();
  std::map<int, std::vector<CoreId>> owners();
  std::vector<Lost> lost_of_entered();
  std::string fault_of(const Member& member);
  bool apply(int thread, const std::vector<CoreId>* owned, StartReport& report);
  bool is_written(const Done<void>& written);
  Done<void> keep_own(const std::vector<CoreId>& cores);
  bool note_given(const std::vector<CoreId>& cores);
  void note_had(const Process& thread, ThreadMemory::Mask mask);
  std::vector<CoreId> original_of(int thread, const Process& identity, const std::vector<CoreId>& now);

  const Host host_;
  ThreadMemory memory_;
  std::vector<CoreId> all_{};
  std::vector<CoreId> common_{};
  bool changed_ = false;                  // since settle()
  std::vector<ReservationId> entered_{};  // since settle()
  std::map<SetName, Place> sets_{};
  std::map<ReservationId, Member> members_{};
  std::map<int, Guest> guests_{};          // by pid
  std::map<int, Process> unmovable_{};     // threads that the kernel binds to their cores
  std::map<int, Process> seen_{};          // threads, by id
  std::set<std::vector<CoreId>> given_{};  // masks that this daemon has given to threads
  std::string unwritten_{};                // the journal's error in the last pass over all threads; "": none
};

}  // namespace corelane::reserved
