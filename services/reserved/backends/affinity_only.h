// AffinityOnly: sets of cores as masks of threads, where there are no control groups to be had. A thread may widen its
// own mask again at any time; sweep() puts such ones back now and then, which is all that keeps them out. Masks change
// in settle() alone: who gets or gives back cores goes from the old ones to the new ones, and not by way of what the
// default set has in between, where its real-time threads would be in each other's way.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "services/reserved/backends/backend.h"
#include "services/reserved/backends/memory_of_threads.h"

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
    std::map<int, Process> processes{};  // that were seen and live: of Extent::tree all of it
  };

  // A service that works in a client's set.
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
  std::map<int, Process> seen_{};          // threads
  std::set<std::vector<CoreId>> given_{};  // masks that threads have got here
  std::string unwritten_{};                // why the journal was not, when all were last gone through
};

}  // namespace corelane::reserved
