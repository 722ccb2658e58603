#include "orb/eval/scenario_formats.h"

#include "orb/eval/formats/formats.h"

namespace corelane::eval {
namespace {

constexpr const ScenarioFormat* format_table[] = {&formats::toml, &formats::rt_app, &formats::simso, &formats::jobs};

}  // namespace

Registry<ScenarioFormat> scenario_formats() noexcept { return format_table; }

const ScenarioFormat* format_of_path(std::string_view path) noexcept {
  for (const ScenarioFormat* const format : format_table)
    if (path.ends_with(format->ending)) return format;
  return nullptr;
}

const ScenarioFormat& format_of_text(std::string_view text) noexcept {
  for (const ScenarioFormat* const format : format_table)
    if (format->fits != nullptr && format->fits(text)) return *format;
  return formats::toml;
}

}  // namespace corelane::eval
