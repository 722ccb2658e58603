// EdfPass analyzes a core that is ordered by deadlines, in pieces. It finds out whether all tasks meet their deadlines,
// or how long the jobs of each task take at most. First it computes the longest busy period of all load of the core.
// Then it checks the demand. If the demand is already known to hold, it computes the response of each task instead of
// checking the demand.
//
// Threads: as CoreTaskSet, which contains it. Nothing allocates after reserve().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "orb/sched/analysis/demand.h"
#include "orb/sched/analysis/edf_response.h"

namespace corelane::sched {

class EdfPass {
 public:
  enum class Goal : std::uint8_t { deadlines, responses };

  // Allocates room for `tasks` tasks and `loads` loads above them.
  void reserve(std::size_t tasks, std::size_t loads);

  // Starts a new analysis: call clear(), add() for each task, then begin(). `load` must outlive the analysis.
  void clear() noexcept { tasks_.clear(); }
  void add(const EdfTask& task) noexcept { tasks_.push_back(task); }
  void begin(const EdfLoad& load, Goal goal, int iterations) noexcept;
  // Works like ResponseSearch::step().
  bool step(int& evaluations) noexcept;

  // Ends the analysis with the result known so far. For Goal::deadlines it makes one pass with a bound of the demand.
  // The verdict is then `holds` or `undecided`.
  void cut_short() noexcept;

  // Returns the result of Goal::deadlines. It is also `undecided` if no end of the core's busy period was found.
  const DemandVerdict& verdict() const noexcept { return verdict_; }
  // Returns a result of Goal::responses: the response of a task, from its release. If the steps were used up, the
  // result is the deadline. Tasks have the order of add().
  Ticks response(std::size_t task) const noexcept { return responses_[task]; }
  // Returns a task that has a deadline at the time where the demand is too high.
  std::size_t loser() const noexcept;

 private:
  enum class Stage : std::uint8_t { busy, walking, responding, done };

  void end_busy() noexcept;
  void begin_response(std::size_t task) noexcept;
  Ticks horizon(const EdfTask& own) const noexcept;
  void end_response() noexcept;
  bool holds_by_bound() const noexcept;

  std::vector<EdfTask> tasks_;
  std::vector<Interference> all_;  // the tasks and the load above them
  std::vector<Ticks> responses_;
  EdfLoad load_{};
  Goal goal_ = Goal::deadlines;
  int iterations_ = 0;
  Stage stage_ = Stage::done;
  BusySearch busy_;
  DemandSearch demand_;
  EdfResponseSearch response_;
  bool ahead_ = false;          // a task has EdfTask::ahead set
  std::size_t responding_ = 0;  // the task that response_ analyzes
  DemandVerdict verdict_{};
};

}  // namespace corelane::sched
