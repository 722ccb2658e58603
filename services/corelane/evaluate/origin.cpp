#include "services/corelane/evaluate/origin.h"

#include <sys/utsname.h>

#include <fstream>
#include <thread>

#include "orb/base/text/counted.h"

namespace corelane::tool {
namespace {

// Returns "" if the system names no model.
std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name") && line.find(": ") != line.npos) return line.substr(line.find(": ") + 2);
  return {};
}

}  // namespace

std::string machine_text() {
  const std::string model = processor_model();
  return counted(std::thread::hardware_concurrency(), "core") + (model.empty() ? "" : ", " + model);
}

std::string kernel_text() {
  utsname names{};
  return ::uname(&names) == 0 ? names.release : "";
}

}  // namespace corelane::tool
