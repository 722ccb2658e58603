#include "orb/core/settings.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "orb/core/config/core_settings.h"
#include "orb/core/config/settings_list.h"
#include "orb/dispatch/settings.h"
#include "orb/leader_followers/settings.h"
#include "orb/os/machine/cpu_mask.h"
#include "orb/transport/settings.h"

namespace corelane::core {
namespace {

constexpr std::size_t mebi = 1024 * 1024;
using V = std::string_view;

// The order of sections in the documentation. Other sections come behind them.
constexpr std::array<V, 17> section_order{"dispatch",  "pool",    "followers", "best_effort", "platform", "io",
                                          "limits",    "timeout", "client",    "channel",     "endpoint", "naming",
                                          "contracts", "log",     "recorder",  "reserved",    "runtime"};

V section_of(V key) { return key.substr(0, key.find('.')); }

// Each line names the table of a component, and where Settings has its values. Within a section, the settings of the
// first line come first.
std::vector<SettingsEntry> all_settings() {
  std::vector<SettingsEntry> table;
  add_settings(table, core_settings(), std::identity{});
  add_settings(table, transport::connection_settings(), &Settings::connections);
  add_settings(table, transport::channel_settings(), &Settings::channel);
  add_settings(table, transport::unix_settings(), &Settings::unix_sockets);
  add_settings(table, dispatch::executive_settings(), &Settings::executive);
  add_settings(table, leader_followers::pool_settings(), &Settings::followers);
  add_settings_of_services(table);
  std::ranges::stable_sort(table, {}, [](const SettingsEntry& entry) {
    const V section = section_of(entry.key);
    return std::pair(std::ranges::find(section_order, section) - section_order.begin(), section);
  });
  return table;
}

}  // namespace

std::size_t connections_of(const Settings& settings) noexcept {
  if (settings.client_connections > 0) return settings.client_connections;
  const auto cores = static_cast<std::size_t>(CPU_COUNT_S(os::CpuMask::native_size, os::process_affinity().native()));
  return std::clamp<std::size_t>(4 * cores, 16, 64);
}

transport::MemoryBudget::Bounds memory_bounds_of(const Settings& settings) noexcept {
  const Duration patience = settings.connections.header_timeout;
  const std::size_t all = settings.memory > 0 ? settings.memory : std::max(64 * mebi, 4 * settings.giop.message_size);
  return transport::MemoryBudget::bounds_of(all, settings.giop.message_size,
                                            (patience > Duration::zero() ? patience : std::chrono::seconds{10}) / 4);
}

const std::vector<SettingsEntry>& settings_table() {
  static const std::vector<SettingsEntry> table = all_settings();
  return table;
}

std::string option_of(std::string_view key) {
  std::string result = "-ORB";
  bool upper = true;
  for (const char c : key) {
    if (c == '.' || c == '_') {
      upper = true;
      continue;
    }
    result += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return result;
}

std::string variable_of(std::string_view key) {
  std::string result = "CORELANE_";
  for (const char c : key) result += c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return result;
}

namespace {

void begin_table(std::string& text) {
  text += "| key in corelane.toml | option | variable | default | meaning |\n|---|---|---|---|---|\n";
}

void add_row(std::string& text, const SettingsEntry& entry) {
  text.append("| `").append(entry.key).append("` | `").append(option_of(entry.key)).append("` | `");
  text.append(variable_of(entry.key)).append("` | ");
  text.append(entry.fallback.empty() ? "(empty)" : entry.fallback).append(" | ").append(entry.help).append(" |\n");
}

// Adds the settings that a user needs first.
void add_first_settings(std::string& text) {
  std::map<unsigned, const SettingsEntry*> entries;
  for (const SettingsEntry& entry : settings_table())
    if (entry.first > 0) entries[entry.first] = &entry;
  begin_table(text);
  for (const auto& [place, entry] : entries) add_row(text, *entry);
}

// Adds all other settings, with a table for each section.
void add_expert_settings(std::string& text) {
  V section;
  for (const SettingsEntry& entry : settings_table()) {
    if (entry.first > 0) continue;
    if (section != section_of(entry.key)) {
      section = section_of(entry.key);
      text.append("\n### ").append(section).append("\n\n");
      begin_table(text);
    }
    add_row(text, entry);
  }
}

}  // namespace

std::string settings_documentation() {
  std::string text = "## The first ten settings\n\n";
  add_first_settings(text);
  text +=
      "\n## Expert settings\n\nThe defaults fit most programs. Change one of these when a page or a message says so.\n";
  add_expert_settings(text);
  return text;
}

}  // namespace corelane::core
