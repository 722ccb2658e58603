#include "orb/core/config/settings_of.h"

#include <algorithm>
#include <iterator>

namespace corelane::core {

Expected<Settings, SettingsFault> settings_of(std::vector<std::string> orb_options) {
  orb_options.insert(orb_options.begin(), "corelane");  // argv[0], the program's name
  std::vector<char*> argv;
  std::ranges::transform(orb_options, std::back_inserter(argv), [](std::string& word) { return word.data(); });
  argv.push_back(nullptr);
  int argc = static_cast<int>(orb_options.size());
  return load_settings(argc, argv.data(), SettingsSources::of_process());
}

}  // namespace corelane::core
