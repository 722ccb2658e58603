// Threads: a value.
#pragma once

#include <string>

namespace corelane::core {

// A fault in the configuration, as a sentence for the user: where, what, and what is expected.
struct SettingsFault {
  std::string text;
};

}  // namespace corelane::core
