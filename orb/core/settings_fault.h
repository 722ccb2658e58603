// Threads: a value.
#pragma once

#include <string>

namespace corelane::core {

// SettingsFault describes an error in the configuration in a sentence for the user: the place, the error, and what is
// expected.
struct SettingsFault {
  std::string text;
};

}  // namespace corelane::core
