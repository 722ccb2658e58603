// Setting declares one setting of a component: its name, its default, its help, and the function that reads its value.
// A component declares its settings in one table that is constant, in a file `settings.cpp` beside its code. One line
// in a list above it names that table (orb/core/settings.cpp, services/settings.cpp): nothing registers itself at the
// start of the program. The code that reads options, variables and files, and that prints the help, works on all tables
// alike.
//
// Threads: constant objects. apply() is for the thread that reads the settings; no real-time thread calls it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace corelane {

// Properties that only some settings have. `Values` is the struct in which the component keeps the values.
template <typename Values>
struct SettingTraits {
  unsigned first = 0;  // its place among the settings that a user needs first, from 1; 0: an expert setting
  // Compares the setting's value. Not null: all ORBs of a process share what the setting configures, so they must have
  // the same value.
  bool (*same)(const Values& a, const Values& b) = nullptr;
  bool followers = false;  // a shared setting that has a meaning in the mode leader-followers
};

template <typename Values>
struct Setting {
  std::string_view key;       // "dispatch.queue_capacity": its section and its name there
  std::string_view fallback;  // the default, as text. It is also the default in `Values`
  std::string_view help;
  // Stores the value and returns "". If the value is wrong, changes nothing, and returns what is expected, as the end
  // of a sentence. The functions in orb/base/settings/setting_values.h do so for usual types.
  std::string (*apply)(Values& values, std::string_view text);
  SettingTraits<Values> traits{};
};

// The table of a component, in the order of its documentation.
template <typename Values>
using SettingsOf = std::span<const Setting<Values>>;

// For SettingTraits::same: compares a data member, or with several names a member of a member.
template <auto... Members, typename Values>
bool same(const Values& a, const Values& b) {
  return (a.*....*Members) == (b.*....*Members);
}

}  // namespace corelane
