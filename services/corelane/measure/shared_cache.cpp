#include "services/corelane/measure/shared_cache.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "orb/base/contract.h"
#include "orb/base/text/counted.h"
#include "orb/core/contracts/slowdowns.h"
#include "orb/core/text/toml_text.h"
#include "orb/eval/scenario_file.h"
#include "orb/os/files/small_file.h"
#include "services/corelane/output/output_file.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

// What a new file begins with.
constexpr const char* head_of_slowdowns =
    "# Slowdowns of operations beside other work on the same last-level cache. They are measured estimates,\n"
    "# never bounds: the median execution time beside that work, divided by the median alone.\n";

// To thousandths. In plans, a factor that is too large is safe.
double thousandths_above(double factor) { return std::ceil(factor * 1000) / 1000; }
double thousandths_below(double factor) { return std::floor(factor * 1000) / 1000; }

// Returns why no file may have the slowdown; "" if one may.
std::string fault_of_slowdown(const Slowdown& slowdown) {
  constexpr auto most = static_cast<double>(eval::most_slowdown.millionths / eval::unity.millionths);
  const double factor = slowdown.range ? std::max(slowdown.factor(), slowdown.range->high) : slowdown.factor();
  if (factor > 0 && factor <= most) return {};
  return slowdown.operation + " beside " + slowdown.beside + " takes " + format("%.4g", factor) +
         " times as long as alone, and a file has only factors above 0 and at most " + format("%.0f", most) +
         "; measure again, with more calls";
}

// Returns what is wrong with the text of a file that may be a scenario; "" if nothing is.
std::string fault_of_text(const std::string& text, const std::string& path) {
  if (eval::has_tasks(text)) {
    const auto cells = eval::parse_scenario(text, path);
    return cells ? std::string() : cells.error().text;
  }
  const auto pairs = core::parse_slowdowns(text, path);
  return pairs ? std::string() : pairs.error().text;
}

// A JSON string is a string of TOML, too, except for U+007F. What is not UTF-8 becomes U+FFFD.
std::string toml_string(const std::string& text) {
  std::string quoted = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (std::size_t at = quoted.find('\x7f'); at != quoted.npos; at = quoted.find('\x7f', at))
    quoted.replace(at, 1, "\\u007f");
  return quoted;
}

// Returns the text of the file with the slowdowns added, or why the file cannot have them.
Expected<std::string, std::string> text_with_slowdowns(const std::string& path, std::span<const Slowdown> slowdowns) {
  constexpr std::size_t largest_file = 1024 * 1024;
  std::string text = head_of_slowdowns;
  std::error_code unknown;  // then reading says why
  if (std::filesystem::exists(path, unknown) || unknown) {
    auto before = os::read_small_file(path, largest_file);
    if (!before) return Unexpected{before.error().text};
    if (auto fault = core::nesting_fault_of(*before, path)) return Unexpected{std::move(fault->text)};
    text = *std::move(before);
  }
  if (auto fault = fault_of_text(text, path); !fault.empty()) return Unexpected{std::move(fault)};
  for (const Slowdown& slowdown : slowdowns) {
    if (auto fault = fault_of_slowdown(slowdown); !fault.empty()) return Unexpected{std::move(fault)};
    text += (text.empty() || text.ends_with('\n') ? "\n" : "\n\n") + toml_of(slowdown);
  }
  if (const auto pairs = core::parse_slowdowns(text, path); !pairs) return Unexpected{pairs.error().text};
  if (const auto fault = fault_of_text(text, path); !fault.empty())
    return Unexpected{fault + "; give the labels of the scenario with --task and --beside-task"};
  return text;
}

}  // namespace

CoreId core_beside(std::span<const os::CoreInfo> cores, CoreId core) {
  const auto own = std::ranges::find(cores, core, &os::CoreInfo::core);
  if (own == cores.end()) return no_core;
  const auto other = std::ranges::find_if(cores, [&](const os::CoreInfo& info) {
    return info.cache == own->cache && info.physical_core != own->physical_core;
  });
  return other == cores.end() ? no_core : other->core;
}

std::string factor_text(const Slowdown& slowdown) {
  std::string text = format("%.2f times that alone (", slowdown.factor());
  if (slowdown.range) text += format("%.2f to %.2f with 95 %% confidence, ", slowdown.range->low, slowdown.range->high);
  return text + counted(slowdown.samples, "job") + ")";
}

std::string toml_of(const Slowdown& slowdown) {
  const auto number = [](const char* key, const std::optional<double>& value) {
    return value ? std::string(key) + " = " + format("%.3f", *value) + "\n" : "";
  };
  std::string text = "[[slowdown]]\noperation = " + toml_string(slowdown.operation) +
                     "\nbeside = " + toml_string(slowdown.beside) + "\n" +
                     number("factor", thousandths_above(slowdown.factor())) +
                     "samples = " + std::to_string(slowdown.samples) + "\n";
  if (slowdown.range)
    text +=
        number("low", thousandths_below(slowdown.range->low)) + number("high", thousandths_above(slowdown.range->high));
  text += "alone = \"" + to_string(slowdown.alone) + "\"\ntogether = \"" + to_string(slowdown.together) + "\"\n";
  if (const auto& metrics = slowdown.metrics)
    text +=
        number("accesses", metrics->accesses) + number("misses", metrics->misses) + number("stalls", metrics->stalls);
  return text;
}

std::string fault_of_label(const std::string& label) {
  try {
    static_cast<void>(nlohmann::json(label).dump());
    return {};
  } catch (const nlohmann::json::type_error&) {
    return toml_string(label) + " is not UTF-8; write the label in UTF-8";
  }
}

std::string fault_of_slowdowns_file(const std::string& path, const std::string& task,
                                    std::span<const std::string> beside) {
  using namespace std::chrono_literals;
  std::vector<Slowdown> stand_ins;
  for (const std::string& other : beside)
    stand_ins.push_back(
        {.operation = task.empty() ? other : task, .beside = other, .alone = 1ms, .together = 1ms, .samples = 1});
  if (auto text = text_with_slowdowns(path, stand_ins); !text) return std::move(text.error());
  return fault_of_output_file(path);
}

Expected<std::vector<eval::PairSlowdown>, std::string> add_slowdowns(const std::string& path,
                                                                     std::span<const Slowdown> slowdowns) {
  const auto text = text_with_slowdowns(path, slowdowns);
  if (!text) return Unexpected{"nothing was written: " + text.error()};
  auto pairs = core::parse_slowdowns(*text, path);
  if (!pairs) return Unexpected{pairs.error().text};
  if (const auto written = os::write_output_file(path, *text); !written) return Unexpected{written.error().text};
  return *std::move(pairs);
}

}  // namespace corelane::tool
