// Functions that make one table of the settings that components declare (orb/base/settings/setting.h).
// Threads: any but real-time ones.
#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/settings/setting.h"
#include "orb/core/settings.h"

namespace corelane::core {

// Adds the settings of a component. Its values are the part of Settings that std::invoke(part, settings) returns.
template <typename Values, typename Part>
void add_settings(std::vector<SettingsEntry>& table, SettingsOf<Values> settings, Part part) {
  for (const Setting<Values>& one : settings) {
    SettingsEntry entry{
        .key = one.key,
        .fallback = one.fallback,
        .help = one.help,
        .apply = [&one, part](Settings& s, std::string_view v) { return one.apply(std::invoke(part, s), v); },
        .first = one.traits.first,
        .same = {},
        .followers = one.traits.followers};
    if (one.traits.same != nullptr)
      entry.same = [&one, part](const Settings& a, const Settings& b) {
        return one.traits.same(std::invoke(part, a), std::invoke(part, b));
      };
    table.push_back(std::move(entry));
  }
}

// Adds the settings of a component that orb/core does not know.
template <typename Values>
void add_settings(std::vector<SettingsEntry>& table, SettingsOf<Values> settings) {
  const auto part = [](auto& all) -> auto& { return all.services.template of<Values>(); };
  add_settings(table, settings, part);
}

// Adds the settings of the services. The file services/settings.cpp lists them. It is compiled into the library of
// orb/core, so that each program knows the settings of all others.
void add_settings_of_services(std::vector<SettingsEntry>& table);

}  // namespace corelane::core
