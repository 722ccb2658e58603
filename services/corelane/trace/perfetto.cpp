#include "services/corelane/trace/perfetto.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "orb/sim/replay.h"
#include "services/corelane/trace/protobuf.h"

namespace corelane::tool {

using namespace sched;  // this whole file uses its facts and commands

namespace {

// Field numbers, by message.
namespace packet {
constexpr std::uint32_t clock_snapshot = 6, timestamp = 8, sequence_id = 10, track_event = 11, sequence_flags = 13,
                        timestamp_clock_id = 58, track_descriptor = 60;
}
namespace descriptor {
constexpr std::uint32_t uuid = 1, name = 2, process = 3, parent_uuid = 5, counter = 8;
}
namespace event {
constexpr std::uint32_t annotation = 4, type = 9, track_uuid = 11, category = 22, name = 23, double_counter = 44;
}
namespace annotation {
constexpr std::uint32_t integer = 4, text = 6, name = 10;
}

enum class Type : std::uint64_t { begin = 1, end = 2, instant = 3, counter = 4 };

constexpr std::uint64_t real_time_clock = 1, monotonic_clock = 3, boot_time_clock = 6;
constexpr std::uint64_t state_cleared = 1;

constexpr std::uint64_t process_track = 1;
constexpr std::uint64_t manager_track = 2;
std::uint64_t track_of(CoreId core) { return 0x1'0000 + static_cast<std::uint64_t>(core.value); }
std::uint64_t counter_of(CoreId core) { return 0x2'0000 + static_cast<std::uint64_t>(core.value); }
std::uint64_t track_of(TaskId task) { return 0x1000'0000 + task.value; }

std::uint64_t nanoseconds(Time time) { return static_cast<std::uint64_t>(time.time_since_epoch().count()); }

// One event with its annotations.
class Event {
 public:
  Event(Type type, std::uint64_t track, std::string_view name = {}) {
    message_.number(event::type, static_cast<std::uint64_t>(type)).number(event::track_uuid, track);
    if (name.empty()) return;
    message_.text(event::category, "corelane").text(event::name, name);
  }
  Event& note(std::string_view name, std::int64_t value) {
    ProtoMessage note;
    message_.message(event::annotation, note.text(annotation::name, name).integer(annotation::integer, value));
    return *this;
  }
  Event& note(std::string_view name, std::string_view value) {
    ProtoMessage note;
    message_.message(event::annotation, note.text(annotation::name, name).text(annotation::text, value));
    return *this;
  }
  Event& value(double value) {
    message_.real(event::double_counter, value);
    return *this;
  }
  const ProtoMessage& message() const { return message_; }

 private:
  ProtoMessage message_;
};

// Collects the events of all tracks and writes them in the order of time.
class Output {
 public:
  void track(std::uint64_t uuid, std::string_view name, const ProtoMessage& more = {}) {
    ProtoMessage descriptor, packet;
    descriptor.number(descriptor::uuid, uuid).text(descriptor::name, name);
    if (uuid != process_track) descriptor.number(descriptor::parent_uuid, process_track);
    std::string bytes = descriptor.bytes() + more.bytes();
    head_.push_back(packet.text(packet::track_descriptor, bytes));
  }
  void clocks(const TraceFile& trace) {
    const auto clock = [](std::uint64_t id, std::uint64_t at) {
      ProtoMessage message;
      return message.number(1, id).number(2, at);
    };
    ProtoMessage snapshot, packet;
    snapshot.message(1, clock(monotonic_clock, nanoseconds(trace.dumped_at)));
    snapshot.message(1, clock(boot_time_clock, static_cast<std::uint64_t>(trace.dumped_boot_time.count())));
    snapshot.message(1, clock(real_time_clock, static_cast<std::uint64_t>(trace.dumped_real_time.count())));
    head_.push_back(packet.message(packet::clock_snapshot, snapshot));
  }
  void add(Time at, const Event& event) { events_.push_back({at, event.message()}); }

  std::string bytes() {
    std::ranges::stable_sort(events_, {}, &Timed::at);
    ProtoMessage trace;
    std::uint64_t flags = state_cleared;
    for (ProtoMessage& packet : head_) {
      packet.number(packet::sequence_id, 1);
      if (std::exchange(flags, 0)) packet.number(packet::sequence_flags, state_cleared);
      trace.message(1, packet);
    }
    for (const Timed& timed : events_) {
      ProtoMessage packet;
      packet.number(packet::timestamp, nanoseconds(timed.at)).number(packet::timestamp_clock_id, monotonic_clock);
      trace.message(1, packet.number(packet::sequence_id, 1).message(packet::track_event, timed.event));
    }
    return trace.bytes();
  }

 private:
  struct Timed {
    Time at;
    ProtoMessage event;
  };
  std::vector<ProtoMessage> head_;
  std::vector<Timed> events_;
};

// Handles the Manager's records: decisions, and which task is charged to which core.
class ManagerStory {
 public:
  ManagerStory(Output& out, std::map<TaskId, std::string>& names) : out_(out), names_(names) {}

  void tell(const TraceView& record) {
    if (const auto named = decode<trace::Named>(record)) return name(named->task, named->name());
    if (const auto admit = decode<Admit>(record)) return on(*admit, record.at);
    if (const auto refuse = decode<Refuse>(record)) return on(*refuse, record.at);
    if (const auto later = decode<Postpone>(record))
      return out_.add(record.at, instant("postpone").note("request", static_cast<std::int64_t>(later->request.value)));
    if (const auto move = decode<Move>(record)) return on(*move, record.at);
    if (const auto vacated = decode<Vacated>(record)) return charge(vacated->task, no_core, record.at);
    if (const auto evict = decode<Evict>(record)) return on(*evict, record.at);
    if (const auto lost = decode<CoreLost>(record))
      out_.add(record.at, instant("core lost").note("core", lost->core.value));
    if (const auto returned = decode<CoreReturned>(record))
      out_.add(record.at, instant("core returned").note("core", returned->core.value));
  }

 private:
  struct Charge {
    CoreId core = no_core;
    double share = 0;
  };

  static Event instant(const std::string& text) { return Event(Type::instant, manager_track, text); }
  void name(TaskId task, std::string_view name) {
    names_[task] = "task " + std::to_string(task.value) + " " + std::string(name);
  }
  void on(const Admit& admit, Time at) {
    const auto percent = 100.0 * static_cast<double>(admit.contract.budget.count()) /
                         static_cast<double>(std::max<std::int64_t>(admit.contract.period.count(), 1));
    charges_[admit.task].share = percent;
    charge(admit.task, admit.core, at);
    names_.try_emplace(admit.task, "task " + std::to_string(admit.task.value));
    Event event = instant("admit task " + std::to_string(admit.task.value));
    event.note("core", admit.core.value).note("priority", admit.priority.value);
    event.note("period_ns", admit.contract.period.count()).note("deadline_ns", admit.contract.deadline.count());
    event.note("budget_ns", admit.contract.budget.count()).note("response_bound_ns", admit.response.count());
    out_.add(at, event);
  }
  void on(const Refuse& refuse, Time at) {
    Event event = instant("refuse: " + std::string(name_of(refuse.reason.code)));
    event.note("request", static_cast<std::int64_t>(refuse.job.value))
        .note("closest_core", refuse.reason.closest.value);
    event.note("response_ns", refuse.reason.response.count()).note("deadline_ns", refuse.reason.deadline.count());
    out_.add(at, event);
  }
  void on(const Move& move, Time at) {
    charge(move.task, move.to, at);
    out_.add(at, instant("move task " + std::to_string(move.task.value))
                     .note("from", move.from.value)
                     .note("to", move.to.value));
  }
  void on(const Evict& evict, Time at) {
    charge(evict.task, no_core, at);
    out_.add(at, instant("evict task " + std::to_string(evict.task.value)).note("core", evict.core.value));
  }
  // Charges the task to that core from now on.
  void charge(TaskId task, CoreId core, Time at) {
    const auto found = charges_.find(task);
    if (found == charges_.end()) return;
    const CoreId before = std::exchange(found->second.core, core);
    show(before, at);
    if (core != before) show(core, at);
  }
  void show(CoreId core, Time at) {
    if (core == no_core) return;
    double sum = 0;
    for (const auto& [task, charge] : charges_) sum += charge.core == core ? charge.share : 0;
    out_.add(at, Event(Type::counter, counter_of(core)).value(sum));
  }

  Output& out_;
  std::map<TaskId, std::string>& names_;
  std::map<TaskId, Charge> charges_;
};

// Handles a CoreScheduler's records: its tasks' jobs, and which of them had the core.
class SchedulerStory {
 public:
  SchedulerStory(Output& out, std::map<TaskId, std::string>& names, CoreId core)
      : out_(out), names_(names), core_(core) {}

  void tell(const TraceView& record) {
    at_ = record.at;
    step(record);
    show_core();
  }

 private:
  struct Active {
    TaskId task;
    Priority priority;
    Time deadline;
    bool begun = false;  // its slice is open
    bool below = false;  // demoted or cancelled
    bool asleep = false;
  };

  void step(const TraceView& record) {
    if (const auto arrived = decode<Arrived>(record)) {
      names_.try_emplace(arrived->task, "task " + std::to_string(arrived->task.value));
      arriving_ = arrived->task;
    } else if (const auto run = decode<Run>(record)) {
      release(*run);
    } else if (const auto started = decode<trace::Started>(record)) {
      begin(started->job);
    } else if (const auto finished = decode<Finished>(record)) {
      end(*finished);
    } else if (const auto blocked = decode<trace::Blocked>(record)) {
      Event event = instant(blocked->task, "waited without saying so");
      out_.add(at_, event.note("job", number(blocked->job)).note("waited_ns", blocked->waited.count()));
    } else if (const auto overslept = decode<trace::Overslept>(record)) {
      Event event = instant(overslept->task, "slept for longer than declared");
      out_.add(at_, event.note("job", number(overslept->job)).note("slept_ns", overslept->slept.count()));
    } else if (const auto missed = decode<trace::Missed>(record)) {
      Event event = instant(missed->task, "deadline missed");
      out_.add(at_, event.note("job", number(missed->job)).note("late_ns", (missed->at - missed->deadline).count()));
    } else {
      tell_of_trouble(record);
    }
  }
  void tell_of_trouble(const TraceView& record) {
    if (const auto refuse = decode<Refuse>(record)) {
      refused(arriving_, refuse->job, refuse->reason.code);
    } else if (const auto turned = decode<trace::TurnedAway>(record)) {
      refused(turned->task, turned->job, turned->reason);
    } else if (const auto defer = decode<Defer>(record)) {
      out_.add(
          at_,
          instant(defer->task, "early").note("job", number(defer->job)).note("until_ns", (defer->until - at_).count()));
    } else if (const auto overran = decode<Overran>(record)) {
      out_.add(
          at_,
          instant(overran->task, "overrun").note("job", number(overran->job)).note("used_ns", overran->used.count()));
    } else if (const auto demote = decode<Demote>(record)) {
      below(demote->job, "demoted");
    } else if (const auto cancel = decode<Cancel>(record)) {
      below(cancel->job, "cancelled");
    } else if (const auto suspended = decode<Suspended>(record)) {
      sleep(suspended->job, true);
    } else if (const auto resumed = decode<Resumed>(record)) {
      sleep(resumed->job, false);
    }
  }

  static std::int64_t number(JobId job) { return static_cast<std::int64_t>(job.value); }
  static Event instant(TaskId task, std::string_view text) { return Event(Type::instant, track_of(task), text); }
  Active* find(JobId job) {
    const auto found = active_.find(job);
    return found == active_.end() ? nullptr : &found->second;
  }
  void release(const Run& run) {
    Active& active = active_[run.job];
    const bool goes_on = active.task == run.task;  // the rest of it, in place of its task's next job
    active.task = run.task, active.priority = run.priority, active.deadline = run.deadline, active.below = false;
    const Time at = goes_on ? at_ : run.released;
    out_.add(at, instant(run.task, goes_on ? "next place" : "release").note("job", number(run.job)));
  }
  void begin(JobId job) {
    Active* active = find(job);
    if (!active || std::exchange(active->begun, true)) return;
    Event event(Type::begin, track_of(active->task), "job " + std::to_string(job.value));
    event.note("core", core_.value).note("deadline_in_ns", (active->deadline - at_).count());
    out_.add(at_, event);
  }
  void end(const Finished& finished) {
    Active* active = find(finished.job);
    if (!active) return;  // its beginning was overwritten
    if (active->begun) {
      if (active->asleep) out_.add(at_, Event(Type::end, track_of(active->task)));
      out_.add(at_, Event(Type::end, track_of(active->task)).note("used_ns", finished.used.count()));
    }
    active_.erase(finished.job);
  }
  void refused(TaskId task, JobId job, RefusalCode code) {
    out_.add(at_, instant(task, "refused: " + std::string(name_of(code))).note("job", number(job)));
  }
  void below(JobId job, std::string_view text) {
    Active* active = find(job);
    if (!active) return;
    active->below = true;
    out_.add(at_, instant(active->task, text).note("job", number(job)));
  }
  void sleep(JobId job, bool asleep) {
    Active* active = find(job);
    if (!active || !active->begun || std::exchange(active->asleep, asleep) == asleep) return;
    const std::uint64_t track = track_of(active->task);
    out_.add(at_, asleep ? Event(Type::begin, track, "suspended") : Event(Type::end, track));
  }
  // Shows the ready job with the highest priority; among equals, the one that came first.
  void show_core() {
    std::optional<JobId> now;
    for (const auto& [job, active] : active_)
      if (active.begun && !active.asleep && (!now || before(active, active_.at(*now)))) now = job;
    if (now == shown_) return;
    if (shown_) out_.add(at_, Event(Type::end, track_of(core_)));
    shown_ = now;
    if (!now) return;
    const Active& active = active_.at(*now);
    out_.add(at_, Event(Type::begin, track_of(core_),
                        names_.try_emplace(active.task, "task " + std::to_string(active.task.value)).first->second)
                      .note("job", number(*now))
                      .note("priority", active.priority.value));
  }
  static bool before(const Active& a, const Active& b) {
    return a.below != b.below ? b.below : a.priority > b.priority;
  }

  Output& out_;
  std::map<TaskId, std::string>& names_;
  const CoreId core_;
  Time at_{};
  TaskId arriving_;
  std::map<JobId, Active> active_;
  std::optional<JobId> shown_;
};

void describe(Output& out, const TraceFile& trace, const std::map<TaskId, std::string>& names) {
  ProtoMessage process, more;
  process.number(1, static_cast<std::uint64_t>(trace.pid)).text(6, trace.program);
  out.track(process_track, trace.program, more.message(descriptor::process, process));
  out.track(manager_track, "manager");
  for (const Track& track : trace.tracks) {
    if (track.kind != TrackKind::core) continue;
    out.track(track_of(track.core), sim::name_of(track));
    ProtoMessage unit, counter;
    out.track(counter_of(track.core), "utilization of " + sim::name_of(track),
              counter.message(descriptor::counter, unit.text(6, "%")));
  }
  for (const auto& [task, name] : names) out.track(track_of(task), name);
}

}  // namespace

std::string perfetto_of(const TraceFile& trace) {
  Output out;
  std::map<TaskId, std::string> names;
  out.clocks(trace);
  ManagerStory manager(out, names);
  for (const Track& track : trace.tracks)  // first, because it has the names
    if (track.kind == TrackKind::manager)
      for (const TraceView& record : records_of(track)) manager.tell(record);
  for (const Track& track : trace.tracks) {
    if (track.kind != TrackKind::core) continue;
    SchedulerStory scheduler(out, names, track.core);
    for (const TraceView& record : records_of(track)) scheduler.tell(record);
  }
  describe(out, trace, names);
  return out.bytes();
}

}  // namespace corelane::tool
