#include "orb/os/machine/host_key.h"

#include <sys/utsname.h>

#include <cstddef>
#include <fstream>
#include <string_view>

#include "orb/os/machine/host.h"

namespace corelane::os {

std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t value = line.find_first_not_of(": \t", std::string_view("model name").size());
    return value == std::string::npos ? std::string() : line.substr(value);
  }
  return {};
}

HostKey key_of_this_host() {
  utsname system{};
  if (::uname(&system) != 0) system = {};
  return {.host = host_name(),
          .kernel = std::string(system.release) + " " + system.version,
          .processor = processor_model()};
}

std::string difference_of(const HostKey& measured, const HostKey& here) {
  const auto differs = [](const char* what, const std::string& theirs, const std::string& ours) {
    return theirs == ours ? std::string() : std::string(what) + " '" + theirs + "', and here it is '" + ours + "'";
  };
  for (const std::string& text :
       {differs("on the host", measured.host, here.host), differs("under the kernel", measured.kernel, here.kernel),
        differs("on the processor", measured.processor, here.processor)})
    if (!text.empty()) return text;
  return {};
}

}  // namespace corelane::os
