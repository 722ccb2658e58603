#include "services/corelane/measure/measurement.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "orb/base/settings/overrun_name.h"
#include "orb/dispatch/refusal_log.h"
#include "services/corelane/trace/overrun_jobs.h"

namespace corelane::tool {

using namespace sched;  // this whole file uses its facts and commands

namespace {

// Collects the records of one process, task by task.
class Collector {
 public:
  explicit Collector(const Selection& selection) : selection_(selection) {}

  // Reads the manager's decisions first: an older trace may have the contract of a newer trace's jobs.
  void collect(const std::vector<const TraceFile*>& traces) {
    for (const TrackKind kind : {TrackKind::manager, TrackKind::core})
      for (const TraceFile* trace : traces)
        for (const Track& track : trace->tracks)
          if (track.kind == kind)
            for (const TraceView& record : records_of(track))
              kind == TrackKind::manager ? decided(record) : ran(record);
  }

  std::vector<Measurement> by_label() {
    std::vector<Measurement> result;
    std::map<std::string, std::vector<Contract>> own;
    for (auto& [id, task] : tasks_) {
      if (task.found.label.empty()) task.found.label = "task " + std::to_string(id.value);
      if (task.owner == PeerId{} && task.found.contract) own[task.found.label].push_back(*task.found.contract);
      if (!task.used.empty() && (selection_.only == no_task || id == selection_.only))
        add(result, {finished(id, task)});
    }
    for (Measurement& measurement : result) {
      add_terms(measurement.own, own[measurement.label]);
      for (const Contract& contract : own[measurement.label])
        for (const ResourceUse& use : contract.uses)
          measurement.longest_section = std::max(measurement.longest_section, use.longest);
    }
    return result;
  }

 private:
  using Event = std::pair<JobId, Time>;  // traces that overlap have it twice
  struct Task {
    std::optional<PeerId> owner{};  // nothing: its admission was overwritten
    Measurement found{};
    std::set<Event> arrivals{}, missed{}, blocked{};
    std::map<Event, Duration> used{};
  };

  void decided(const TraceView& record) {
    if (const auto named = decode<trace::Named>(record)) tasks_[named->task].found.label = named->name();
    if (const auto admit = decode<Admit>(record)) {
      know(admit->task, admit->contract);
      tasks_[admit->task].owner = admit->peer;
    }
  }

  void ran(const TraceView& record) {
    if (const auto added = decode<trace::TaskAdded>(record)) know(added->task, added->contract);
    if (const auto joined = decode<trace::JoinAsked>(record)) know(joined->task, joined->contract);
    if (const auto arrived = decode<Arrived>(record)) came(*arrived);
    if (record.at < selection_.since) return;
    if (const auto finished = decode<Finished>(record); finished && counts(finished->job)) ended(*finished);
    if (const auto blocked = decode<trace::Blocked>(record); blocked && counts(blocked->job)) waited(*blocked);
    if (const auto overran = decode<Overran>(record); overran && counts(overran->job)) overruns_.note(*overran);
    if (const auto missed = decode<trace::Missed>(record); missed && counts(missed->job))
      tasks_[missed->task].missed.emplace(missed->job, missed->at);
  }

  void know(TaskId task, const Contract& contract) {
    tasks_[task].found.contract = contract;
    overruns_.note_budget(task, contract.budget);
  }
  void ended(const Finished& finished) {
    tasks_[finished.task].used[{finished.job, finished.at}] = finished.used;
    overruns_.note(finished);
  }
  void waited(const trace::Blocked& blocked) {
    Task& task = tasks_[blocked.task];
    task.blocked.emplace(blocked.job, blocked.at);
    task.found.longest_block = std::max(task.found.longest_block, blocked.waited);
  }
  void came(const Arrived& arrived) {
    if (arrived.at < selection_.since) too_early_.insert(arrived.job);
    if (arrived.at >= selection_.since) tasks_[arrived.task].arrivals.emplace(arrived.job, arrived.at);
  }
  bool counts(JobId job) const { return !too_early_.contains(job); }

  // A task that moved has arrivals in several tracks.
  static std::optional<Duration> least_gap(const std::set<Event>& arrivals) {
    std::vector<Time> instants;
    for (const auto& [job, at] : arrivals) instants.push_back(at);
    std::ranges::sort(instants);
    std::optional<Duration> least;
    for (std::size_t i = 1; i < instants.size(); ++i)
      least = std::min(least.value_or(Duration::max()), Duration{instants[i] - instants[i - 1]});
    return least;
  }

  Measurement finished(TaskId id, Task& task) const {
    Measurement found = std::move(task.found);
    for (const auto& [job, used] : task.used) found.used.push_back(used);
    std::ranges::sort(found.used);
    found.tasks = {id};
    found.overruns = overruns_.count(id);
    found.misses = task.missed.size();
    found.blocks = task.blocked.size();
    found.least_gap = least_gap(task.arrivals);
    found.came_early =
        found.least_gap && found.contract && *found.least_gap < found.contract->period - found.contract->jitter;
    return found;
  }

  const Selection selection_;
  std::set<JobId> too_early_;
  std::map<TaskId, Task> tasks_;
  OverrunJobs overruns_;
};

void merge(Measurement& sum, Measurement more) {
  sum.tasks.insert(sum.tasks.end(), more.tasks.begin(), more.tasks.end());
  sum.used.insert(sum.used.end(), more.used.begin(), more.used.end());
  std::ranges::sort(sum.used);
  if (more.least_gap) sum.least_gap = std::min(sum.least_gap.value_or(Duration::max()), *more.least_gap);
  sum.came_early |= more.came_early;
  sum.has_several |= more.has_several || (sum.contract && more.contract && *sum.contract != *more.contract);
  if (more.contract) sum.contract = more.contract;
  add_terms(sum.own, more.own);
  sum.longest_section = std::max(sum.longest_section, more.longest_section);
  sum.overruns += more.overruns;
  sum.misses += more.misses;
  sum.blocks += more.blocks;
  sum.longest_block = std::max(sum.longest_block, more.longest_block);
}

// Rounds up to two digits: 30.24 us -> 31 us.
Duration rounded_up(Duration duration) {
  std::int64_t unit = 1;
  while (duration.count() / unit >= 100) unit *= 10;
  return Duration{(duration.count() + unit - 1) / unit * unit};
}

// Returns whether it is a version like "1.0".
bool is_version(std::string_view text) {
  const auto is_number = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == part.npos;
  };
  const std::size_t dot = text.find('.');
  return dot != text.npos && is_number(text.substr(0, dot)) && is_number(text.substr(dot + 1));
}

// Returns whether it is "RMI", "DCE" or the like. Only capitals count, so that no C++ name is taken for a format.
bool is_format(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

// Returns whether it is like "Plant/Controller": no part is empty, and it is not C++'s "Plant::Controller".
bool is_scoped_name(const std::string& text) {
  return !text.empty() && text.find(':') == text.npos && !text.starts_with('/') && !text.ends_with('/') &&
         text.find("//") == text.npos;
}

bool is_of_a_label(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_/.:-").find(c) != std::string_view::npos;
}

// Returns whether the text would break its line in the file.
bool has_odd_characters(const std::string& text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c <= ' ' || c == '"' || c == '\\' || c == 0x7f; });
}

// Returns the repository id that was meant by "Plant::Controller", "Plant.Controller" or "IDL:Plant/Controller".
std::string as_repository_id(std::string text) {
  if (text.starts_with("IDL:")) text.erase(0, 4);
  for (std::size_t at = text.find("::"); at != text.npos; at = text.find("::")) text.replace(at, 2, "/");
  const std::size_t colon = text.find(':');
  std::string version = colon == text.npos ? "" : text.substr(colon + 1);
  text.erase(std::min(colon, text.size()));
  if (text.find('/') == text.npos) std::ranges::replace(text, '.', '/');
  while (text.starts_with('/')) text.erase(0, 1);
  if (!is_version(version)) version = "1.0";
  return is_scoped_name(text) ? "IDL:" + text + ":" + version : "IDL:Plant/Controller:1.0";
}

std::string field(const std::string& key, Duration value) { return key + " = \"" + to_string(value) + "\"\n"; }

}  // namespace

Duration Measurement::quantile(std::int64_t ppm) const { return quantile_of(used, ppm); }

Duration quantile_of(std::span<const Duration> samples, std::int64_t ppm) {
  const auto count = static_cast<std::int64_t>(samples.size());
  const std::int64_t rank = std::max<std::int64_t>(1, (count * ppm + 999'999) / 1'000'000);
  return samples[static_cast<std::size_t>(rank - 1)];
}

std::vector<Measurement> measurements_of(std::span<const TraceFile> traces, const Selection& selection) {
  std::map<std::tuple<std::string, std::int32_t, std::uint64_t>, std::vector<const TraceFile*>> processes;
  for (const TraceFile& trace : traces) processes[{trace.program, trace.pid, trace.start_ticks}].push_back(&trace);
  std::vector<Measurement> result;
  for (auto& [process, of_process] : processes) {
    std::ranges::sort(of_process, {}, [](const TraceFile* trace) { return trace->dumped_at; });
    Collector collector(selection);
    collector.collect(of_process);
    add(result, collector.by_label());
  }
  return result;
}

void add(std::vector<Measurement>& sum, std::vector<Measurement> more) {
  for (Measurement& measurement : more) {
    const auto same = std::ranges::find(sum, measurement.label, &Measurement::label);
    if (same == sum.end())
      sum.push_back(std::move(measurement));
    else
      merge(*same, std::move(measurement));
  }
}

Contract terms_of(const Contract& contract) {
  Contract terms = contract;
  terms.budget = {};
  terms.uses = {};
  return terms;
}

void add_terms(std::vector<Contract>& terms, const std::vector<Contract>& more) {
  for (const Contract& contract : more)
    if (std::ranges::find(terms, terms_of(contract)) == terms.end()) terms.push_back(terms_of(contract));
}

Duration proposed_budget(const Measurement& measurement, int margin_percent) {
  const Duration longest = measurement.used.back();
  return std::max({rounded_up(longest + longest * margin_percent / 100), Duration{1000}, measurement.longest_section});
}

std::string contracts_entry(const std::string& repository_id, const std::string& operation, const Contract& contract,
                            const std::string& comment) {
  std::string text = "[\"" + repository_id + "\"." + operation + "]  # " + comment + "\n";
  text += field("period", contract.period) + field("deadline", contract.deadline) + field("budget", contract.budget) +
          field("jitter", contract.jitter);
  if (contract.suspension > Duration::zero()) text += field("suspension", contract.suspension);
  if (contract.importance != 0) text += "importance = " + std::to_string(contract.importance) + "\n";
  if (contract.on_overrun != OverrunPolicy::report)
    text += "on_overrun = \"" + std::string(corelane::name_of(contract.on_overrun)) + "\"\n";
  if (contract.intensity != 0) text += "intensity = " + std::to_string(contract.intensity) + "\n";
  return text;
}

std::string set_aside(const std::string& entry, const std::string& fault) {
  std::string text = "# Not used: " + fault + ".\n# Shorten the work or lengthen the deadline, then uncomment:\n";
  for (std::size_t at = 0; at < entry.size();) {  // bound: the lines
    const std::size_t end = std::min(entry.find('\n', at), entry.size() - 1) + 1;
    text += "# " + entry.substr(at, end - at);
    at = end;
  }
  return text;
}

std::string fault_of_repository_id(const std::string& text) {
  const std::size_t first = text.find(':'), last = text.rfind(':');
  const std::string fault = "'" + text + "' is no repository id";
  if (has_odd_characters(text)) return fault + "; write IDL:Plant/Controller:1.0";
  if (text.starts_with("IDL:") && first < last && is_scoped_name(text.substr(first + 1, last - first - 1)) &&
      is_version(text.substr(last + 1)))
    return {};
  if (text.starts_with("IDL:") && first == last)
    return "'" + text + "' is a repository id without its version; write " + as_repository_id(text);
  const bool is_of_another_format = first != text.npos && is_format(text.substr(0, first)) && last + 1 < text.size() &&
                                    text.find("::") == text.npos && !text.starts_with("IDL:");
  return is_of_another_format ? std::string{} : fault + "; write " + as_repository_id(text);
}

std::optional<std::string> repository_id_of(const std::string& label) {
  const std::size_t dot = label.rfind('.');
  if (dot == label.npos || dot == 0 || may_be_cut(label) || !std::ranges::all_of(label, is_of_a_label))
    return std::nullopt;
  return "IDL:" + label.substr(0, dot) + ":1.0";
}

std::string operation_of(const std::string& label) {
  const std::size_t dot = label.rfind('.');
  return dot == label.npos ? label : label.substr(dot + 1);
}

bool may_be_cut(const std::string& label) {
  return label.size() >= std::min(dispatch::RefusalLog::label_length, trace::Named::room - 1);
}

bool is_shown_as(const std::string& shown, const std::string& label) {
  return shown == label || (may_be_cut(shown) && label.starts_with(shown));
}

}  // namespace corelane::tool
