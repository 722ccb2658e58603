#include "services/corelane/evaluate/origin.h"

#include <sys/utsname.h>

#include <thread>

#include "orb/base/text/counted.h"
#include "orb/os/machine/host_key.h"

namespace corelane::tool {

std::string machine_text() {
  const std::string model = os::processor_model();
  return counted(std::thread::hardware_concurrency(), "core") + (model.empty() ? "" : ", " + model);
}

std::string kernel_text() {
  utsname names{};
  return ::uname(&names) == 0 ? names.release : "";
}

}  // namespace corelane::tool
