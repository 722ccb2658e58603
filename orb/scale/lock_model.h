// LockModel predicts the throughput of cores that share one ticket lock, and the number of cores from which on
// throughput falls (scalability collapse).
//
// The model is a closed queueing network (Cui, LockSim). Each core alternates between two centers. It works outside of
// the lock (delay center). Then it takes the lock for a critical section (queueing center, first come first served).
// While k cores hold or wait for the lock, a section and its hand-over take T_cs + c k / 2 on average. The reason is
// that the memory system serves each waiter that polls a ticket lock before the lock is handed over. All times are
// exponentially distributed. So k is a birth-death process with births (n - k) / T_ncs and deaths 1 / (T_cs + c k / 2).
//
// Threads: pure functions.
//
// The folder orb/scale has models of how programs scale with the number of cores. It does no I/O and reads no clock.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace corelane::scale {

// The unit of time is the caller's choice. It is the same for all three times; throughput is per that unit.
struct LockModel {
  double outside = 0;    // T_ncs: mean time outside of the lock between two critical sections; above 0
  double section = 0;    // T_cs: mean time of a critical section without waiters; above 0
  double hand_over = 0;  // c: twice what each core that holds or waits for the lock adds to a section; 0 or more

  friend bool operator==(const LockModel&, const LockModel&) = default;
};

// Returns what is wrong with the model and how to mend it; "" if nothing is.
std::string fault_of(const LockModel& model);

// The prediction for one number of cores.
struct LockPoint {
  int cores = 1;
  double throughput = 0;     // critical sections per unit of time, of all cores together
  double speed_up = 0;       // throughput times (T_ncs + T_cs): 1 is a core that meets no hand-over cost
  double cores_outside = 0;  // mean number of cores that work outside of the lock: throughput times T_ncs
  double waiting_share = 0;  // share of the cores' time that they wait for the lock, 0..1
};

// Returns the point of `cores` >= 1 cores, from the model's exact solution. The model has no fault. Takes a time in
// proportion to `cores`.
LockPoint solve(const LockModel& model, int cores);

// Returns the points of these numbers of cores.
std::vector<LockPoint> solve(const LockModel& model, std::span<const int> cores);

// Returns the point with this throughput. On average, `requesters` of the cores hold the lock or wait for it. The lock
// is held for the share `busy` of the time.
LockPoint point_of(const LockModel& model, int cores, double throughput, double requesters, double busy);

// Returns the number of cores with the highest throughput among 1 to `most` cores, if throughput falls by more than 5 %
// up to `most` cores. Otherwise the lock does not collapse there, and nothing is returned.
std::optional<int> collapse_point(const LockModel& model, int most);

}  // namespace corelane::scale
