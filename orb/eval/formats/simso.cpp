// The XML files of SimSo (Cheramy, Hladik & Deplanche 2014, https://github.com/MaximeCheramy/simso), a simulator of
// multiprocessor scheduling. Times are decimal numbers of milliseconds.
#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "orb/base/contract.h"
#include "orb/eval/formats/formats.h"
#include "orb/eval/formats/label_text.h"
#include "orb/eval/formats/left_out.h"
#include "orb/eval/scenario/checks.h"

namespace corelane::eval {
namespace {

using boost::property_tree::ptree;

constexpr std::int64_t nanoseconds_per_ms = 1'000'000;

// Returns nothing if the text is not a number.
std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole_text = fault == std::errc{} && end == text.data() + text.size();
  return is_whole_text && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// Reads a file until the first fault.
class SimsoReader {
 public:
  explicit SimsoReader(std::string path) : path_(std::move(path)) {}

  Expected<Scenario, ScenarioFault> read(const ptree& root) {
    const auto simulation = root.get_child_optional("simulation");
    if (!simulation) {
      fail("it has no element <simulation>; a file of SimSo has one, with <processors> and <tasks>");
      return *fault_;
    }
    set_ideal_platform();
    read_processors(*simulation);
    if (const auto tasks = simulation->get_child_optional("tasks")) read_tasks(*tasks);
    if (scenario_.tasks.empty()) fail("it has no <task> in <tasks>; add one with period, deadline and WCET");
    note_scheduler(*simulation);
    if (fault_) return *fault_;
    scenario_.notes = left_out_.notes();
    return std::move(scenario_);
  }

 private:
  void fail(const std::string& text) {
    if (!fault_) fault_ = ScenarioFault{path_ + ": " + text};
  }
  void fail_task(const std::string& text) { fail("task \"" + label_ + "\": " + text); }

  static std::string attribute(const ptree& element, const std::string& name) {
    return element.get<std::string>("<xmlattr>." + name, "");
  }

  // SimSo's cores run nothing but the tasks.
  void set_ideal_platform() {
    Platform& platform = scenario_.platform;
    platform.budget = platform.blocking = platform.jitter = Duration::zero();
    platform.capacity = unity;
  }

  void read_processors(const ptree& simulation) {
    const auto processors = simulation.get_child_optional("processors");
    if (!processors) return;
    scenario_.platform.cores = static_cast<std::int64_t>(processors->count("processor"));
    for (const auto& [name, processor] : *processors) {
      if (name != "processor") continue;
      const std::string speed = attribute(processor, "speed");
      if (!speed.empty() && number_of(speed) != 1.0)
        fail("processor \"" + attribute(processor, "name") + "\" has the speed " + speed +
             "; all cores of a scenario have the speed 1");
      note_overhead(processor, "cs_overhead");
      note_overhead(processor, "cl_overhead");
    }
  }

  void note_overhead(const ptree& element, const std::string& name) {
    const std::string value = attribute(element, name);
    if (!value.empty() && number_of(value) != 0.0) left_out_.say(name + " = " + value + " is left out");
  }

  void note_scheduler(const ptree& simulation) {
    const auto scheduler = simulation.get_child_optional("sched");
    const std::string name = scheduler ? attribute(*scheduler, "class") : "";
    if (!name.empty()) left_out_.say("the scheduler " + name + " is left out; choose a policy, see docs/scenario.md");
    const std::string model = attribute(simulation, "etm");
    if (!model.empty() && model != "wcet")
      left_out_.say("the execution time model " + model + " is left out; jobs execute for their WCET");
  }

  void read_tasks(const ptree& tasks) {
    for (const auto& [name, task] : tasks) {
      if (name != "task") continue;
      const std::string id = attribute(task, "id"), next = attribute(task, "followed_by");
      elements_.emplace(id, &task);
      if (!next.empty() && !released_by_.emplace(next, id).second)
        fail("two tasks are followed by the task with the id " + next + "; a task has one before it");
    }
    for (const auto& [name, task] : tasks)
      if (name == "task" && !fault_) read_task(task);
    for (const auto& [name, task] : tasks)
      if (name == "task" && !fault_) read_chain(task);
  }

  // Returns the first task of the chain in which the task is; null if the chain has no beginning.
  const ptree* first_before(const ptree& element) {
    const ptree* first = &element;
    for (std::size_t steps = 0; steps <= elements_.size(); ++steps) {
      const auto before = released_by_.find(attribute(*first, "id"));
      if (before == released_by_.end()) return first;
      first = elements_.at(before->second);
    }
    return nullptr;
  }

  // A task that follows another one is released by its end, and has no dates of its own.
  void check_type(const ptree& element, bool follows) {
    std::string type = attribute(element, "task_type");
    if (type.empty() && attribute(element, "periodic") == "no") type = "APeriodic";  // of older files
    const bool has_dates = !attribute(element, "list_activation_dates").empty();
    if (!type.empty() && type != "Periodic" && (!follows || has_dates))
      fail_task("it is " + type + ", and a scenario has no list of activation dates; make it Periodic");
    const std::string next = attribute(element, "followed_by");
    if (!next.empty() && !elements_.contains(next))
      fail_task("it is followed by the task with the id " + next + ", which the file does not have; add it");
  }

  // Reads the chain that begins with the task.
  void read_chain(const ptree& element) {
    if (attribute(element, "followed_by").empty() || released_by_.contains(attribute(element, "id"))) return;
    Chain& chain = scenario_.chains.emplace_back();
    for (const ptree* task = &element;; task = elements_.at(attribute(*task, "followed_by"))) {  // bound: see above
      chain.tasks.push_back(labels_.at(task));
      if (attribute(*task, "followed_by").empty()) return;
    }
  }

  void read_task(const ptree& element) {
    label_ = attribute(element, "name");
    if (label_.empty()) label_ = "task-" + std::to_string(scenario_.tasks.size() + 1);
    labels_.emplace(&element, label_);
    const ptree* const first = first_before(element);
    if (first == nullptr) return fail_task("it follows itself, through other tasks; remove a followed_by");
    check_type(element, first != &element);
    if (const std::string penalty = attribute(element, "preemption_cost");
        !penalty.empty() && number_of(penalty) != 0.0)
      left_out_.add("preemption_cost");
    const Duration period = duration(*first, "period"), deadline = duration(element, "deadline", period);
    ListedTask task{.label = label_,
                    .period = period,
                    .budget = duration(element, "WCET"),
                    .deadline = deadline,
                    .jitter = Duration::zero(),
                    .offset = duration(element, "activationDate", Duration::zero())};
    if (fault_) return;
    if (const auto bad = fault_of_task(task)) return fail_task(*bad);
    scenario_.tasks.push_back(std::move(task));
  }

  Duration duration(const ptree& element, const std::string& name, std::optional<Duration> fallback = {}) {
    const std::string text = attribute(element, name);
    if (text.empty() && fallback) return *fallback;
    const auto number = number_of(text);
    const auto most = static_cast<double>(longest_period / std::chrono::milliseconds{1});
    if (!number || *number < 0 || *number > most) {
      fail_task(name + " = \"" + text + "\" is not a number of milliseconds from 0 to an hour");
      return {};
    }
    return Duration{std::llround(*number * static_cast<double>(nanoseconds_per_ms))};
  }

  const std::string path_;
  std::map<std::string, const ptree*> elements_;    // by id
  std::map<std::string, std::string> released_by_;  // ids: the task whose end releases this one
  std::map<const ptree*, std::string> labels_;
  std::string label_;  // of the task that is read
  Scenario scenario_;
  LeftOut left_out_;
  std::optional<ScenarioFault> fault_;
};

// Returns the place behind the tag or comment that begins at `at`. A text in quotes may contain any character.
std::size_t end_of_tag(std::string_view text, std::size_t at) {
  if (text.substr(at).starts_with("<!--")) return std::min(text.find("-->", at), text.size() - 1) + 1;
  char quote = '\0';
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote == '\0' && c == '>') return at + 1;
    if (quote == '\0' && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = '\0';
  }
  return text.size();
}

// Returns how deep elements are nested. The parser recurses once for each level.
std::size_t depth_of(std::string_view text) {
  std::size_t depth = 0, most = 0;
  for (std::size_t at = text.find('<'); at < text.size(); at = text.find('<', at)) {
    const std::size_t end = end_of_tag(text, at);
    const std::string_view tag = text.substr(at, end - at);
    const bool is_end = tag.starts_with("</"), is_alone = tag.ends_with("/>");
    if (is_end && depth > 0) --depth;
    if (!is_end && !is_alone && !tag.starts_with("<!") && !tag.starts_with("<?")) most = std::max(most, ++depth);
    at = end;
  }
  return most;
}

Expected<Scenario, ScenarioFault> read_simso(std::string_view text, const std::string& path, const FormatOptions&) {
  constexpr std::size_t deepest = 64;
  if (depth_of(text) > deepest) return ScenarioFault{path + ": its elements are nested too deeply for a file of SimSo"};
  ptree root;
  try {
    std::istringstream stream{std::string(text)};
    read_xml(stream, root, boost::property_tree::xml_parser::no_comments);
    return SimsoReader(path).read(root);
  } catch (const boost::property_tree::xml_parser_error& error) {
    return ScenarioFault{path + ":" + std::to_string(error.line()) + ": it is no XML: " + error.message()};
  }
}

void set_attribute(ptree& element, const std::string& name, const std::string& value) {
  element.put("<xmlattr>." + name, value);
}

// Returns a duration as milliseconds, without superfluous digits: "2.5".
std::string milliseconds_of(Duration duration) {
  const std::int64_t ns = duration.count();
  std::string digits = std::to_string(nanoseconds_per_ms + ns % nanoseconds_per_ms).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  return std::to_string(ns / nanoseconds_per_ms) + (digits.empty() ? "" : "." + digits);
}

ptree task_element(const ListedTask& task, std::size_t number, LeftOut& left_out) {
  const Contract contract = contract_of(task);
  left_out.add_what_only_toml_has(task);
  if (contract.jitter > Duration::zero()) left_out.add("jitter");
  if (contract.suspension > Duration::zero()) left_out.add("suspension");
  if (uses_resources(contract)) left_out.add("use of resources");
  if (const Execution execution = execution_of(task);
      execution.least != unity || execution.most != unity || !execution.trace.empty())
    left_out.add("execution time");
  std::string name = printable_label(task.label);
  if (name != task.label) {
    left_out.add("exact name");
    name += "-" + std::to_string(number);  // the names of two tasks may differ in such characters only
  }
  ptree element;
  set_attribute(element, "name", name);
  set_attribute(element, "id", std::to_string(number));
  set_attribute(element, "task_type", "Periodic");
  set_attribute(element, "abort_on_miss", "no");
  set_attribute(element, "period", milliseconds_of(contract.period));
  set_attribute(element, "activationDate", milliseconds_of(task.offset));
  set_attribute(element, "list_activation_dates", "");
  set_attribute(element, "deadline", milliseconds_of(contract.deadline));
  set_attribute(element, "WCET", milliseconds_of(contract.budget));
  set_attribute(element, "ACET", milliseconds_of(contract.budget));
  for (const char* const unused : {"base_cpi", "instructions", "mix", "preemption_cost", "et_stddev"})
    set_attribute(element, unused, "0");
  return element;
}

// Returns the number of the task that follows in a chain; 0: none.
std::size_t follower_of(const Scenario& scenario, const std::string& label) {
  for (const Chain& chain : scenario.chains) {
    const auto place = std::ranges::find(chain.tasks, label);
    if (place == chain.tasks.end() || place + 1 == chain.tasks.end()) continue;
    return static_cast<std::size_t>(std::ranges::find(scenario.tasks, *(place + 1), &ListedTask::label) -
                                    scenario.tasks.begin()) +
           1;
  }
  return 0;
}

bool follows_another(const Scenario& scenario, const std::string& label) {
  return std::ranges::any_of(scenario.chains, [&](const Chain& chain) {
    return std::find(chain.tasks.begin() + 1, chain.tasks.end(), label) != chain.tasks.end();
  });
}

ptree processors_element(std::int64_t cores) {
  ptree processors;
  for (std::int64_t core = 1; core <= cores; ++core) {
    ptree processor;
    set_attribute(processor, "name", "CPU " + std::to_string(core));
    set_attribute(processor, "id", std::to_string(core));
    set_attribute(processor, "cl_overhead", "0");
    set_attribute(processor, "cs_overhead", "0");
    set_attribute(processor, "speed", "1.0");
    processors.add_child("processor", processor);
  }
  return processors;
}

// A cycle is a nanosecond, so that SimSo has the times exactly.
ptree simulation_element(const Scenario& scenario, LeftOut& left_out) {
  ptree simulation, scheduler, caches, tasks;
  Duration longest{};
  for (std::size_t i = 0; i < scenario.tasks.size(); ++i) {
    const ListedTask& task = scenario.tasks[i];
    longest = std::max(longest, task.period);
    ptree& element = tasks.add_child("task", task_element(task, i + 1, left_out));
    if (const std::size_t next = follower_of(scenario, task.label))
      set_attribute(element, "followed_by", std::to_string(next));
    if (follows_another(scenario, task.label)) set_attribute(element, "task_type", "Sporadic");
  }
  set_attribute(simulation, "cycles_per_ms", std::to_string(nanoseconds_per_ms));
  set_attribute(simulation, "etm", "wcet");
  set_attribute(simulation, "duration", std::to_string(10 * longest.count()));
  set_attribute(scheduler, "class", "simso.schedulers.RM");
  for (const char* const overhead : {"overhead", "overhead_activate", "overhead_terminate"})
    set_attribute(scheduler, overhead, "0");
  set_attribute(caches, "memory_access_time", "100");
  simulation.add_child("sched", scheduler);
  simulation.add_child("caches", caches);
  simulation.add_child("processors", processors_element(std::max<std::int64_t>(1, scenario.platform.cores)));
  simulation.add_child("tasks", tasks);
  return simulation;
}

Expected<WrittenScenario, ScenarioFault> write_simso(const Scenario& scenario, const FormatOptions&) {
  LeftOut left_out;
  left_out.add_what_only_toml_has(scenario);
  if (scenario.platform.cores == 0) left_out.say("the file has one processor, because the scenario says no cores");
  left_out.say("the scheduler is simso.schedulers.RM, for ten of the longest periods; change <sched> for another one");
  ptree root;
  root.add_child("simulation", simulation_element(scenario, left_out));
  std::ostringstream stream;
  write_xml(stream, root, boost::property_tree::xml_parser::xml_writer_make_settings<std::string>(' ', 2));
  return WrittenScenario{.text = stream.str(), .notes = left_out.notes()};
}

}  // namespace

namespace formats {

extern const ScenarioFormat simso{.name = "simso",
                                  .ending = ".xml",
                                  .help = "XML of SimSo, a simulator of multiprocessor scheduling",
                                  .longest = 64 << 20,
                                  .fits = begins_with<'<'>,
                                  .read = read_simso,
                                  .write = write_simso};

}  // namespace formats
}  // namespace corelane::eval
