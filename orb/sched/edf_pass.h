// EdfPass: whether a core by deadlines holds them all, and how long each of its tasks' jobs takes at most; in pieces.
// First the longest busy period of all that the core runs, then the walk through its demand (or, where that is known to
// hold, the responses one by one).
//
// Threads: as Roster, of which it is a part. Nothing allocates once reserve() has been called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "orb/sched/demand.h"
#include "orb/sched/edf_response.h"

namespace corelane::sched {

class EdfPass {
 public:
  enum class Goal : std::uint8_t { deadlines, responses };

  // Room for so many tasks and loads above them.
  void reserve(std::size_t tasks, std::size_t loads);

  // A new question: clear(), add() each task, begin(). `load` outlives it.
  void clear() noexcept { tasks_.clear(); }
  void add(const EdfTask& task) noexcept { tasks_.push_back(task); }
  void begin(const EdfLoad& load, Goal goal, int iterations) noexcept;
  // As ResponseSearch::step().
  bool step(int& evaluations) noexcept;

  // Ends it with what is known by now. Of Goal::deadlines that is a bound of the demand, in one pass: it holds, or it
  // is undecided.
  void cut_short() noexcept;

  // Of Goal::deadlines. `undecided` too where the core's busy period has no end that could be found.
  const DemandVerdict& verdict() const noexcept { return verdict_; }
  // Of Goal::responses, from the release: nothing better than its deadline where the steps ran out. In the order of
  // add().
  Ticks response(std::size_t task) const noexcept { return responses_[task]; }
  // A task that has a deadline where the demand is too much.
  std::size_t loser() const noexcept;

 private:
  enum class Stage : std::uint8_t { busy, walking, responding, done };

  void end_busy() noexcept;
  void begin_response(std::size_t task) noexcept;
  Ticks horizon(const EdfTask& own) const noexcept;
  void end_response() noexcept;
  bool holds_by_bound() const noexcept;

  std::vector<EdfTask> tasks_;
  std::vector<Interference> all_;  // they and what is above them
  std::vector<Ticks> responses_;
  EdfLoad load_{};
  Goal goal_ = Goal::deadlines;
  int iterations_ = 0;
  Stage stage_ = Stage::done;
  BusySearch busy_;
  DemandSearch demand_;
  EdfResponseSearch response_;
  bool ahead_ = false;          // somebody is
  std::size_t responding_ = 0;  // the task of response_
  DemandVerdict verdict_{};
};

}  // namespace corelane::sched
