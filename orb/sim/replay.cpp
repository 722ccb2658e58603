#include "orb/sim/replay.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "orb/sched/manager.h"
#include "orb/sched/schedulers/any_scheduler.h"

namespace corelane::sim {

using namespace sched;  // this file handles facts and commands of sched

namespace {

using Answer = std::span<const Command>;
constexpr Answer no_answer{};

bool is_sound(const PlatformLoad& load) {
  const auto within = [](Duration d) { return d >= Duration::zero() && d <= longest_period; };
  return within(load.budget) && within(load.period) && within(load.jitter) && within(load.blocking);
}

// Takes the inputs of one track. tell() returns nothing if the machine could never have been given this record.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual std::optional<Answer> tell(const TraceView& input) = 0;
};

class SchedulerMachine final : public Machine {
 public:
  SchedulerMachine(const Track& track, const ManagerOptions& options)
      : scheduler_(track.core, track.max_tasks, track.timer) {
    if (options.charge_overruns) scheduler_.charge_overruns();
    for (const CoreOptions& core : options.cores)
      if (core.id == track.core && core.order != CoreOrder::priority) scheduler_.use_deadlines();
  }

  std::optional<Answer> tell(const TraceView& input) override {
    if (const auto fact = fact_of(input)) return scheduler_.decide(*fact);
    if (const auto task = decode<trace::TaskAdded>(input)) return add(*task);
    if (const auto task = decode<trace::JoinAsked>(input)) return join(*task);
    if (const auto set = decode<trace::PrioritySet>(input))
      return scheduler_.reprioritize(set->task, set->priority), no_answer;
    if (const auto asked = decode<trace::VacateAsked>(input)) return scheduler_.vacate(asked->at, asked->task);
    if (const auto asked = decode<trace::DismissAsked>(input)) return scheduler_.dismiss(asked->at, asked->task);
    if (const auto taken = decode<trace::TaskTaken>(input)) return scheduler_.take(taken->task), no_answer;
    if (const auto put = decode<trace::TaskPut>(input); put && is_sound(put->task))
      return scheduler_.put(put->at, put->task);
    if (const auto early = decode<trace::EarlyAllowed>(input)) return scheduler_.allow_early(early->allowed), no_answer;
    return std::nullopt;
  }

 private:
  std::optional<Answer> add(const trace::TaskAdded& task) {
    if (!corelane::is_sound(task.contract)) return std::nullopt;
    scheduler_.add(task.task, task.contract, task.priority);
    return no_answer;
  }
  std::optional<Answer> join(const trace::JoinAsked& task) {
    if (!corelane::is_sound(task.contract)) return std::nullopt;
    return scheduler_.join(task.at, task.task, task.contract, task.priority);
  }
  static bool is_sound(const ScheduledTask& task) { return sched::is_sound(task); }

  AnyScheduler scheduler_;
};

class ManagerMachine final : public Machine {
 public:
  explicit ManagerMachine(const ManagerOptions& options) : manager_(options) {}

  std::optional<Answer> tell(const TraceView& input) override {
    if (expected_loads_ > 0) return add_load(decode<trace::InterferenceLoad>(input));
    if (const auto fact = fact_of(input)) return manager_.decide(*fact);
    if (const auto set = decode<trace::CapacitySet>(input)) return set_capacity(*set);
    if (const auto set = decode<trace::InterferenceSet>(input)) return begin_loads(*set);
    if (const auto set = decode<trace::ClosedSet>(input)) return manager_.set_closed(set->core, set->closed), no_answer;
    if (const auto set = decode<trace::RepackSet>(input)) return manager_.set_repack(set->allowed), no_answer;
    return std::nullopt;
  }

 private:
  std::optional<Answer> set_capacity(const trace::CapacitySet& set) {
    if (set.capacity < 0 || set.capacity > whole_core) return std::nullopt;
    manager_.set_capacity(set.core, set.capacity);
    return no_answer;
  }
  std::optional<Answer> begin_loads(const trace::InterferenceSet& set) {
    if (set.loads > max_interference + 1) return std::nullopt;
    core_ = set.core;
    expected_loads_ = set.loads;
    loads_.clear();
    if (expected_loads_ == 0) manager_.set_interference(core_, loads_);
    return no_answer;
  }
  std::optional<Answer> add_load(const std::optional<trace::InterferenceLoad>& load) {
    if (!load || !is_sound(load->load)) return std::nullopt;
    loads_.push_back(load->load);
    if (--expected_loads_ == 0) manager_.set_interference(core_, loads_);
    return no_answer;
  }

  Manager manager_;
  CoreId core_ = no_core;
  std::size_t expected_loads_ = 0;
  std::vector<PlatformLoad> loads_;
};

std::unique_ptr<Machine> machine_of(const TraceFile& trace, const Track& track) {
  if (track.kind == TrackKind::core) return std::make_unique<SchedulerMachine>(track, trace.options);
  return std::make_unique<ManagerMachine>(trace.options);
}

// Processes one track and compares each answer with the recorded one.
class Walk {
 public:
  Walk(const Track& track, ReplayedTrack& report) : records_(records_of(track)), report_(report) {}

  // Returns false if the record at place() cannot be given to the machine.
  bool run(Machine& machine) {
    while (next_ < records_.size() && !difference_) {  // bound: the number of records
      const TraceView& record = records_[next_];
      if (is_command(record.kind)) {
        differ(record.at, text_of(record), "nothing");  // an answer without an input
      } else if (is_input(record.kind)) {
        const auto answer = machine.tell(record);
        if (!answer) return false;
        ++next_, ++report_.inputs;
        compare(record.at, *answer);
      } else {
        ++next_;
      }
    }
    return true;
  }

  std::size_t place() const { return next_; }
  std::optional<ReplayDifference>& difference() { return difference_; }

 private:
  void compare(Time at, Answer answer) {
    TraceRecord expected;
    for (const Command& command : answer) {
      encode(command, at, expected);
      const bool answered = next_ < records_.size() && is_command(records_[next_].kind);
      const bool same = answered && std::ranges::equal(records_[next_].words, expected.span());
      if (!same)
        return differ(at, answered ? text_of(records_[next_]) : "nothing", text_of(*first_record(expected.span())));
      ++next_, ++report_.commands;
    }
  }
  void differ(Time at, std::string recorded, std::string replayed) {
    difference_ = ReplayDifference{report_.name, next_, at, std::move(recorded), std::move(replayed)};
  }

  const std::vector<TraceView> records_;
  ReplayedTrack& report_;
  std::size_t next_ = 0;
  std::optional<ReplayDifference> difference_;
};

}  // namespace

bool ReplayReport::same() const {
  return !difference && std::ranges::any_of(tracks, [](const ReplayedTrack& track) { return track.replayed; });
}

std::string name_of(const Track& track) {
  return track.kind == TrackKind::manager ? "manager" : "core " + std::to_string(track.core.value);
}

Expected<ReplayReport, TraceFault> replay(const TraceFile& trace) {
  ReplayReport report;
  for (const Track& track : trace.tracks) {
    ReplayedTrack& now = report.tracks.emplace_back();
    now.name = name_of(track);
    now.lost = track.lost;
    if (track.lost > 0) continue;
    Walk walk(track, now);
    if (!walk.run(*machine_of(trace, track)))
      return TraceFault{"record " + std::to_string(walk.place()) + " of the track " + now.name +
                        " is none that a run could have: " + text_of(records_of(track)[walk.place()])};
    now.replayed = true;
    if (walk.difference()) {
      report.difference = std::move(walk.difference());
      break;
    }
  }
  return report;
}

}  // namespace corelane::sim
