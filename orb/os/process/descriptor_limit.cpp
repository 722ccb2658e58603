#include "orb/os/process/descriptor_limit.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>

namespace corelane::os {

std::size_t descriptor_limit() noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<std::size_t>(limit.rlim_cur) : 0;
}

bool is_out_of_descriptors(int number) noexcept { return number == EMFILE || number == ENFILE; }

std::string out_of_descriptors(int number) {
  if (number == ENFILE)
    return "no file descriptor is left on this host (fs.file-max); raise it by sysctl -w fs.file-max, or find the "
           "process that has so many";
  return "no file descriptor is left: this process may have " + std::to_string(descriptor_limit()) +
         " (RLIMIT_NOFILE); raise that by ulimit -n, or LimitNOFILE= of its systemd unit";
}

bool SpareDescriptor::hold(const Fd& any) noexcept {
  if (!copy_) copy_.reset(fcntl(any.get(), F_DUPFD_CLOEXEC, 0));
  return static_cast<bool>(copy_);
}

bool SpareDescriptor::give_up() noexcept {
  const bool held = static_cast<bool>(copy_);
  copy_.reset();
  return held;
}

}  // namespace corelane::os
