#include "orb/eval/scenario_formats.h"

#include <algorithm>
#include <cstddef>

#include "orb/core/text/toml_text.h"
#include "orb/eval/formats/formats.h"
#include "orb/os/files/small_file.h"

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
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  for (const ScenarioFormat* const format : format_table)
    if (format->fits != nullptr && format->fits(text)) return *format;
  return formats::toml;
}

Expected<std::string, ScenarioFault> read_scenario_file(const std::string& path) {
  const std::size_t longest = (*std::ranges::max_element(format_table, {}, &ScenarioFormat::longest))->longest;
  auto text = os::read_small_file(path, longest);
  if (!text) return ScenarioFault{"scenario " + text.error().text};
  const ScenarioFormat& format = format_of_text(*text);
  if (format.read == nullptr) {
    auto toml = core::read_toml("scenario", path);
    if (!toml) return ScenarioFault{toml.error().text};
    return *std::move(toml);
  }
  if (text->size() > format.longest)
    return ScenarioFault{"scenario " + path + " is longer than " + std::to_string(format.longest) +
                         " bytes, the most for the format " + std::string(format.name)};
  return *std::move(text);
}

}  // namespace corelane::eval
