// The JSON files of rt-app (https://github.com/scheduler-tools/rt-app), a program that makes real-time load. Times are
// whole microseconds. A task is a loop of events: run, sleep, timer, lock, unlock.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/text/one_line.h"
#include "orb/eval/formats/formats.h"
#include "orb/eval/formats/left_out.h"
#include "orb/eval/scenario/checks.h"

namespace corelane::eval {
namespace {

using RtAppJson = nlohmann::ordered_json;
using std::chrono::microseconds;

constexpr std::array<std::string_view, 8> properties_left_out{"loop",          "policy",    "priority", "cpus",
                                                              "membind_nodes", "taskgroup", "util_min", "util_max"};
constexpr std::array<std::string_view, 11> events_unknown_here{"suspend", "resume", "wait",  "signal", "broad", "sync",
                                                               "barrier", "mem",    "iorun", "yield",  "fork"};

bool has_name(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Returns a key without the number that makes it unique in its object: "run2" is a "run".
std::string without_number(std::string key) {
  key.erase(key.find_last_not_of("0123456789") + 1);
  return key;
}

// The sums over the events of a task's loop.
struct Loop {
  Duration run{}, sleep{}, delay{};
  std::optional<Duration> timer{}, reserved{}, deadline{};  // reserved: dl-runtime
  std::map<std::string, Duration> locked{};                 // what ran since a resource was locked
  std::vector<Section> sections{};
  std::int64_t instances = 1;
};

// Reads the tasks of a file until the first fault.
class RtAppReader {
 public:
  explicit RtAppReader(std::string path) : path_(std::move(path)) {}

  Expected<Scenario, ScenarioFault> read(const RtAppJson& root) {
    const auto tasks = root.find("tasks");
    if (tasks == root.end() || !tasks->is_object() || tasks->empty())
      fail("it has no \"tasks\"; a file of rt-app has an object of this name with a member for each task");
    else
      for (const auto& [label, body] : tasks->items()) read_task(label, body);
    if (root.contains("resources")) left_out_.say("\"resources\" is left out: locks are resources by their names");
    if (fault_) return *fault_;
    scenario_.notes = left_out_.notes();
    return std::move(scenario_);
  }

 private:
  void fail(const std::string& text) {
    if (!fault_) fault_ = ScenarioFault{path_ + ": " + text};
  }
  void fail_task(const std::string& text) { fail("task \"" + label_ + "\": " + text); }

  void read_task(const std::string& label, const RtAppJson& body) {
    label_ = label;
    Loop loop;
    if (body.is_object())
      read_events(body, loop);
    else
      fail_task("it is not an object; write its events between { and }");
    if (!fault_) add_task(loop);
  }

  void read_events(const RtAppJson& body, Loop& loop) {
    for (const auto& [key, value] : body.items())
      if (key == "phases")
        read_phases(value, loop);
      else
        read_event(without_number(key), value, loop);
  }

  void read_phases(const RtAppJson& phases, Loop& loop) {
    if (!phases.is_object() || phases.size() != 1)
      return fail_task("a scenario has one phase for each task, and this task has " + std::to_string(phases.size()) +
                       "; write a task for each phase");
    for (const auto& [key, value] : phases.front().items()) {
      if (key == "phases") return fail_task("a phase has \"phases\" itself; leave them out");
      read_event(without_number(key), value, loop);
    }
  }

  void read_event(const std::string& name, const RtAppJson& value, Loop& loop) {
    if (name == "run" || name == "runtime")
      add_run(micros(name, value), loop);
    else if (name == "sleep")
      loop.sleep += micros(name, value);
    else if (name == "timer")
      loop.timer = timer_of(value);
    else if (name == "lock" || name == "unlock")
      read_lock(name == "lock", value, loop);
    else
      read_property(name, value, loop);
  }

  void read_property(const std::string& name, const RtAppJson& value, Loop& loop) {
    if (name == "delay")
      loop.delay = micros(name, value);
    else if (name == "instance")
      loop.instances = number(name, value, 1, most_tasks);
    else if (name == "dl-runtime")
      loop.reserved = micros(name, value);
    else if (name == "dl-deadline" || name == "deadline")
      loop.deadline = micros(name, value);
    else if (name == "dl-period" || name == "period")
      loop.timer = loop.timer.value_or(micros(name, value));
    else if (has_name(properties_left_out, name))
      left_out_.add("\"" + name + "\"");
    else if (has_name(events_unknown_here, name))
      fail_task("a scenario has no event \"" + name + "\"; it has run, runtime, sleep, timer, lock and unlock");
    else
      fail_task("\"" + name + "\" is no event or property of a task; remove it");
  }

  void add_run(Duration run, Loop& loop) {
    loop.run += run;
    for (auto& [resource, ran] : loop.locked) ran += run;
  }

  Duration timer_of(const RtAppJson& value) {
    if (value.is_object() && value.contains("period")) return micros("timer.period", value["period"]);
    fail_task("the timer has no \"period\"; add it, in microseconds");
    return {};
  }

  void read_lock(bool locks, const RtAppJson& value, Loop& loop) {
    if (!value.is_string()) return fail_task("lock and unlock need the name of a resource, in quotes");
    const std::string resource = value.get<std::string>();
    if (locks) {
      if (!loop.locked.emplace(resource, Duration::zero()).second)
        fail_task("it locks \"" + resource + "\" twice; unlock it before");
      return;
    }
    const auto held = loop.locked.find(resource);
    if (held == loop.locked.end()) return fail_task("it unlocks \"" + resource + "\", which it has not locked");
    add_section({resource, held->second}, loop);
    loop.locked.erase(held);
  }

  static void add_section(const Section& section, Loop& loop) {
    const auto known = std::ranges::find(loop.sections, section.resource, &Section::resource);
    if (known == loop.sections.end())
      loop.sections.push_back(section);
    else
      known->longest = std::max(known->longest, section.longest);
  }

  void add_task(const Loop& loop) {
    if (!loop.locked.empty()) return fail_task("it does not unlock \"" + loop.locked.begin()->first + "\"");
    if (loop.sections.size() > max_uses)
      return fail_task("it locks more than " + std::to_string(max_uses) + " resources; a task may use as many at most");
    if (loop.run == Duration::zero()) return fail_task("it has no \"run\", so it needs no time; add one");
    ListedTask task{.label = label_,
                    .period = loop.timer.value_or(loop.run + loop.sleep),
                    .budget = loop.reserved.value_or(loop.run),
                    .deadline = loop.deadline,
                    .suspension = loop.timer ? loop.sleep : Duration::zero(),
                    .uses = loop.sections,
                    .offset = loop.delay,
                    .count = loop.instances};
    if (!loop.timer && loop.sleep == Duration::zero())
      return fail_task("nothing says its period; add a \"timer\" with a \"period\"");
    if (!loop.timer) left_out_.say("task \"" + label_ + "\" has no timer; its period is the sum of run and sleep");
    if (task.budget != loop.run) task.execution_trace = {loop.run};
    if (const auto bad = fault_of_task(task)) return fail_task(*bad);
    scenario_.tasks.push_back(std::move(task));
  }

  std::int64_t number(const std::string& name, const RtAppJson& value, std::int64_t least, std::int64_t most) {
    const std::int64_t given = value.is_number_integer() ? value.get<std::int64_t>() : -1;  // least is not negative
    if (given >= least && given <= most) return given;
    fail_task("\"" + name + "\" is not a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return least;
  }

  Duration micros(const std::string& name, const RtAppJson& value) {
    constexpr std::int64_t most = std::chrono::duration_cast<microseconds>(longest_period).count();
    return microseconds{number(name, value, 0, most)};
  }

  const std::string path_;
  std::string label_;  // of the task that is read
  Scenario scenario_;
  LeftOut left_out_;
  std::optional<ScenarioFault> fault_;
};

// Returns the place behind a text in quotes or a comment that begins at `at`, or `at` if none does.
std::size_t behind_text(std::string_view json, std::size_t at) {
  const std::string_view rest = json.substr(at);
  if (rest.starts_with("//")) return std::min(json.find('\n', at), json.size());
  if (rest.starts_with("/*")) return std::min(json.find("*/", at + 2), json.size() - 2) + 2;
  if (!rest.starts_with('"')) return at;
  for (++at; at < json.size() && json[at] != '"'; ++at)
    if (json[at] == '\\') ++at;
  return std::min(at + 1, json.size());
}

// Replaces a comma before a closing bracket by a blank. The parser of rt-app allows it.
std::string without_last_commas(std::string json) {
  std::size_t comma = json.npos;  // the last one, if only blanks and comments have followed
  for (std::size_t at = 0; at < json.size();) {
    if (const std::size_t end = behind_text(json, at); end != at) {
      if (json[at] == '"') comma = json.npos;
      at = end;
      continue;
    }
    if ((json[at] == '}' || json[at] == ']') && comma != json.npos) json[comma] = ' ';
    if (json[at] == ',')
      comma = at;
    else if (std::string_view(" \t\r\n").find(json[at]) == std::string_view::npos)
      comma = json.npos;
    ++at;
  }
  return json;
}

// Tells of names that an object has twice: the parser would drop one of them.
class DuplicateNames {
 public:
  bool operator()(RtAppJson::parse_event_t event, const RtAppJson& parsed) {
    if (event == RtAppJson::parse_event_t::object_start) names_.emplace_back();
    if (event == RtAppJson::parse_event_t::object_end) names_.pop_back();
    if (event == RtAppJson::parse_event_t::key && !names_.back().insert(parsed.get<std::string>()).second)
      duplicate_ = parsed.get<std::string>();
    return true;
  }
  const std::string& duplicate() const { return duplicate_; }

 private:
  std::vector<std::set<std::string>> names_;  // of the objects that are open
  std::string duplicate_;
};

Expected<Scenario, ScenarioFault> read_rt_app(std::string_view text, const std::string& path, const FormatOptions&) {
  DuplicateNames names;
  const auto watch = [&names](int, RtAppJson::parse_event_t event, RtAppJson& parsed) { return names(event, parsed); };
  try {
    const RtAppJson root = RtAppJson::parse(without_last_commas(std::string(text)), watch, true, true);
    if (!names.duplicate().empty())
      return ScenarioFault{path + ": an object has two members \"" + names.duplicate() +
                           "\"; add numbers to their names, as in \"" + names.duplicate() + "1\""};
    return RtAppReader(path).read(root);
  } catch (const nlohmann::json::exception& error) {
    return ScenarioFault{path + ": it is no JSON: " + std::string(error.what())};
  }
}

std::int64_t micros_up(Duration duration) { return std::chrono::ceil<microseconds>(duration).count(); }

bool is_whole_micros(Duration duration) { return duration % microseconds{1} == Duration::zero(); }

// Writes one task, with its execution times rounded up to microseconds.
class RtAppTask {
 public:
  RtAppTask(const ListedTask& task, LeftOut& left_out) : task_(task), left_out_(left_out) {}

  RtAppJson json(int priority) {
    const Contract contract = contract_of(task_);
    note_what_is_missing(contract);
    if (task_.offset > Duration::zero()) json_["delay"] = micros_up(task_.offset);
    json_["loop"] = -1;
    json_["policy"] = "SCHED_FIFO";
    json_["priority"] = priority;
    write_runs();
    if (contract.suspension > Duration::zero()) json_["sleep"] = micros_up(contract.suspension);
    json_["timer"] = {{"ref", "unique"}, {"period", std::chrono::floor<microseconds>(contract.period).count()}};
    return std::move(json_);
  }

 private:
  Duration execution() const {
    return task_.execution_trace.empty() ? part_of(task_.budget, task_.execution) : task_.execution_trace.front();
  }

  void note_what_is_missing(const Contract& contract) {
    left_out_.add_what_only_toml_has(task_);
    if (contract.jitter > Duration::zero()) left_out_.add("jitter");
    if (contract.deadline != contract.period) left_out_.add("deadline");
    if (execution() != contract.budget) left_out_.add("budget beyond the execution time");
    if (task_.execution_min && *task_.execution_min != task_.execution) left_out_.add("execution_min");
    if (task_.execution_trace.size() > 1) left_out_.add("execution_trace behind its first time");
    if (!is_whole_micros(execution()) || !is_whole_micros(contract.period) || !is_whole_micros(task_.offset))
      left_out_.add("part of a microsecond");
  }

  // The sections come first, one for each resource, and then the rest of the execution time.
  void write_runs() {
    Duration rest = execution();
    for (std::size_t i = 0; i < task_.uses.size(); ++i) {
      const auto& [resource, longest] = task_.uses[i];
      const std::string number = std::to_string(i + 1);
      json_["lock" + number] = resource;
      json_["run" + number] = micros_up(longest);
      json_["unlock" + number] = resource;
      rest -= longest;
    }
    if (rest > Duration::zero()) json_["run"] = micros_up(rest);
  }

  const ListedTask& task_;
  LeftOut& left_out_;
  RtAppJson json_ = RtAppJson::object();
};

// Returns SCHED_FIFO priorities in the server's order: the least D - J has the highest one.
std::vector<int> fifo_priorities(const std::vector<ListedTask>& tasks) {
  std::vector<std::pair<Duration, std::size_t>> order;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Contract contract = contract_of(tasks[i]);
    order.emplace_back(contract.deadline - contract.jitter, i);
  }
  std::ranges::sort(order);
  std::vector<int> priorities(tasks.size());
  constexpr int highest = 90;
  for (std::size_t rank = 0; rank < order.size(); ++rank)
    priorities[order[rank].second] = std::max(1, highest - static_cast<int>(rank));
  return priorities;
}

// If the text has characters that control a terminal, all characters that are not ASCII are escaped.
std::string text_of_rt_app(const RtAppJson& root) {
  const auto dumped = [&root](bool ascii) { return root.dump(2, ' ', ascii, RtAppJson::error_handler_t::replace); };
  std::string text = dumped(false);
  std::string one_line = text;
  std::ranges::replace(one_line, '\n', ' ');
  return as_one_line(one_line) == one_line ? text : dumped(true);
}

Expected<WrittenScenario, ScenarioFault> write_rt_app(const Scenario& scenario, const FormatOptions&) {
  LeftOut left_out;
  left_out.add_what_only_toml_has(scenario);
  if (!scenario.chains.empty()) left_out.say("the chains are left out");
  const std::vector<int> priorities = fifo_priorities(scenario.tasks);
  RtAppJson tasks = RtAppJson::object();
  for (std::size_t i = 0; i < scenario.tasks.size(); ++i)
    tasks[scenario.tasks[i].label] = RtAppTask(scenario.tasks[i], left_out).json(priorities[i]);
  const RtAppJson root{{"tasks", tasks}, {"global", {{"duration", 10}, {"default_policy", "SCHED_FIFO"}}}};
  if (scenario.tasks.size() > 89) left_out.say("there are more tasks than priorities, so the last ones share one");
  return WrittenScenario{.text = text_of_rt_app(root) + "\n", .notes = left_out.notes()};
}

}  // namespace

namespace formats {

extern const ScenarioFormat rt_app{.name = "rt-app",
                                   .ending = ".json",
                                   .help = "JSON of rt-app, a program that makes real-time load",
                                   .longest = 64 << 20,
                                   .fits = begins_with<'{'>,
                                   .read = read_rt_app,
                                   .write = write_rt_app};

}  // namespace formats
}  // namespace corelane::eval
