#include "services/corelane/tune/tuned_parameters.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "orb/base/time.h"

namespace corelane::tool {
namespace {

using namespace std::chrono_literals;

// The parameter specification. The first value of each, the present one, is added to these.
std::vector<TunedParameter> all_parameters(const core::Settings& settings, std::size_t cores) {
  const auto times_cores = [cores](std::size_t factor) { return std::to_string(factor * cores); };
  const sched::PlatformLoad& platform = settings.executive.platform;
  const Duration overshoot = settings.executive.overshoot;
  return {
      {"client.wait", {"park", "spin-then-park"}},
      {"client.spin", {"10us", "25us", "100us", "200us"}},
      {"client.connections", {"1", times_cores(1), times_cores(2), times_cores(8)}},
      {"best_effort.wait", {"park", "spin-then-park"}},
      {"best_effort.spin", {"10us", "25us", "100us", "200us"}},
      {"best_effort.threads", {times_cores(1), times_cores(2), times_cores(8), times_cores(16)}},
      {"best_effort.patience", {"50us", "1ms", "5ms"}},
      // No number: with one, servants that wait for other requests may wait for ever.
      {"best_effort.concurrency", {"auto"}},
      // Admission counts with these two: only larger values.
      {"platform.budget", {to_string(2 * platform.budget), to_string(4 * platform.budget)}},
      {"dispatch.overshoot", {to_string(overshoot + 10us), to_string(overshoot + 50us)}},
  };
}

// Leaves out what programs refuse: a value that the setting does not take, and a platform.budget near its period.
void leave_out_faulty(TunedParameter& parameter, const core::Settings& settings) {
  const auto& table = core::settings_table();
  const auto entry = std::ranges::find(table, parameter.key, &core::SettingsEntry::key);
  std::erase_if(parameter.values, [&](const std::string& text) {
    core::Settings tried = settings;
    if (entry == table.end() || !entry->apply(tried, text).empty()) return true;
    const sched::PlatformLoad& platform = tried.executive.platform;
    return platform.budget != settings.executive.platform.budget && 2 * platform.budget > platform.period;
  });
}

}  // namespace

std::vector<TunedParameter> tuned_parameters(const core::Settings& settings, std::size_t cores) {
  std::vector<TunedParameter> parameters;
  for (TunedParameter& parameter : all_parameters(settings, cores)) {
    if (settings.given.contains(parameter.key)) continue;
    leave_out_faulty(parameter, settings);
    parameter.values.insert(parameter.values.begin(), "");
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::vector<std::string> variables_for(const std::vector<TunedParameter>& parameters,
                                       const scale::ParameterValues& values) {
  std::vector<std::string> variables;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (values[i] != 0)
      variables.push_back(core::variable_of(parameters[i].key) + "=" + parameters[i].values[values[i]]);
  return variables;
}

std::string text_of_values(const std::vector<TunedParameter>& parameters, const scale::ParameterValues& values) {
  std::string text;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (values[i] != 0)
      text += (text.empty() ? "" : ", ") + parameters[i].key + " = " + parameters[i].values[values[i]];
  return text.empty() ? "the defaults" : text;
}

std::string toml_of(const std::vector<TunedParameter>& parameters, const scale::ParameterValues& values) {
  std::map<std::string, std::string> sections;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (values[i] == 0) continue;
    const std::size_t dot = parameters[i].key.find('.');
    sections[parameters[i].key.substr(0, dot)] +=
        parameters[i].key.substr(dot + 1) + " = \"" + parameters[i].values[values[i]] + "\"\n";
  }
  std::string text;
  for (const auto& [name, lines] : sections) text += "\n[" + name + "]\n" + lines;
  return text;
}

}  // namespace corelane::tool
