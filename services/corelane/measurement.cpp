#include "services/corelane/measurement.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "orb/base/overrun_name.h"
#include "services/corelane/overrun_jobs.h"

namespace corelane::tool {

using namespace sched;  // all of it is about its facts and commands

namespace {

// The records of one trace, task by task.
class Collector {
 public:
  explicit Collector(const Selection& selection) : selection_(selection) {}

  std::vector<Measurement> collect(const TraceFile& trace) {
    for (const Track& track : trace.tracks)
      for (const TraceView& record : records_of(track))
        track.kind == TrackKind::manager ? decided(record) : ran(record);
    return by_label();
  }

 private:
  struct Task {
    PeerId owner{};
    Measurement found{};
    std::vector<Time> arrivals{};
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
      ++tasks_[missed->task].found.misses;
  }

  void know(TaskId task, const Contract& contract) {
    tasks_[task].found.contract = contract;
    overruns_.note_budget(task, contract.budget);
  }
  void ended(const Finished& finished) {
    tasks_[finished.task].found.used.push_back(finished.used);
    overruns_.note(finished);
  }
  void waited(const trace::Blocked& blocked) {
    Measurement& found = tasks_[blocked.task].found;
    ++found.blocks;
    found.longest_block = std::max(found.longest_block, blocked.waited);
  }
  void came(const Arrived& arrived) {
    if (arrived.at < selection_.since) too_early_.insert(arrived.job);
    if (arrived.at >= selection_.since) tasks_[arrived.task].arrivals.push_back(arrived.at);
  }
  bool counts(JobId job) const { return !too_early_.contains(job); }

  // A task that moved has arrivals in several tracks.
  static std::optional<Duration> least_gap(std::vector<Time>& arrivals) {
    std::ranges::sort(arrivals);
    std::optional<Duration> least;
    for (std::size_t i = 1; i < arrivals.size(); ++i)
      least = std::min(least.value_or(Duration::max()), Duration{arrivals[i] - arrivals[i - 1]});
    return least;
  }

  std::vector<Measurement> by_label() {
    std::vector<Measurement> result;
    std::map<std::string, std::vector<Contract>> own;
    for (auto& [id, task] : tasks_) {
      if (task.found.label.empty()) task.found.label = "task " + std::to_string(id.value);
      if (task.owner == PeerId{} && task.found.contract) own[task.found.label].push_back(*task.found.contract);
      if (task.found.used.empty() || (selection_.only != no_task && id != selection_.only)) continue;
      task.found.overruns = overruns_.count(id);
      task.found.tasks = {id};
      task.found.least_gap = least_gap(task.arrivals);
      std::ranges::sort(task.found.used);
      add(result, {std::move(task.found)});
    }
    for (Measurement& measurement : result) add_own(measurement, own[measurement.label]);
    return result;
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
  if (more.contract) sum.contract = more.contract;
  add_own(sum, more.own);
  sum.overruns += more.overruns;
  sum.misses += more.misses;
  sum.blocks += more.blocks;
  sum.longest_block = std::max(sum.longest_block, more.longest_block);
}

// Up, to two digits: 30.24 us -> 31 us.
Duration rounded_up(Duration duration) {
  std::int64_t unit = 1;
  while (duration.count() / unit >= 100) unit *= 10;
  return Duration{(duration.count() + unit - 1) / unit * unit};
}

// "1.0".
bool is_version(std::string_view text) {
  const auto is_number = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == part.npos;
  };
  const std::size_t dot = text.find('.');
  return dot != text.npos && is_number(text.substr(0, dot)) && is_number(text.substr(dot + 1));
}

// "RMI", "DCE": of capitals alone, so that no C++ name is taken for one.
bool is_format(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

// "Plant/Controller": no part is empty, and none is C++'s "Plant::Controller".
bool is_scoped_name(const std::string& text) {
  return !text.empty() && text.find(':') == text.npos && !text.starts_with('/') && !text.ends_with('/') &&
         text.find("//") == text.npos;
}

// Spoils the file's line.
bool has_odd_characters(const std::string& text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c <= ' ' || c == '"' || c == '\\' || c == 0x7f; });
}

// What somebody who wrote "Plant::Controller", "Plant.Controller" or "IDL:Plant/Controller" meant.
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

Duration Measurement::quantile(std::int64_t ppm) const {
  const auto count = static_cast<std::int64_t>(used.size());
  const std::int64_t rank = std::max<std::int64_t>(1, (count * ppm + 999'999) / 1'000'000);
  return used[static_cast<std::size_t>(rank - 1)];
}

std::vector<Measurement> measurements_of(const TraceFile& trace, const Selection& selection) {
  return Collector(selection).collect(trace);
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

void add_own(Measurement& measurement, const std::vector<Contract>& contracts) {
  for (const Contract& contract : contracts)
    if (std::ranges::find(measurement.own, contract) == measurement.own.end()) measurement.own.push_back(contract);
}

Duration proposed_budget(const Measurement& measurement, int margin_percent) {
  const Duration longest = measurement.used.back();
  return std::max(rounded_up(longest + longest * margin_percent / 100), Duration{1000});
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

std::string label_of(const std::string& repository_id, const std::string& operation) {
  const std::string name = repository_id.starts_with("IDL:") ? repository_id.substr(4) : repository_id;
  return name.substr(0, name.rfind(':')) + "." + operation;
}

std::optional<std::string> repository_id_of(const std::string& label) {
  const std::size_t dot = label.rfind('.');
  if (dot == label.npos || dot == 0) return std::nullopt;
  return "IDL:" + label.substr(0, dot) + ":1.0";
}

std::string operation_of(const std::string& label) {
  const std::size_t dot = label.rfind('.');
  return dot == label.npos ? label : label.substr(dot + 1);
}

}  // namespace corelane::tool
