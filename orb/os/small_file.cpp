#include "orb/os/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "orb/os/fd.h"

namespace corelane::os {
namespace {

FileFault fault(const std::string& path, const std::string& what) { return {path + " " + what}; }

FileFault system_fault(const std::string& path) {
  if (errno == ENOENT) return fault(path, "does not exist");
  return fault(path, std::string("cannot be read: ") + std::strerror(errno));
}

}  // namespace

Expected<std::string, FileFault> read_small_file(const std::string& path, std::size_t limit) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));  // a pipe must not hold us up
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0) return system_fault(path);
  if (S_ISDIR(found.st_mode)) return fault(path, "is a folder");
  if (!S_ISREG(found.st_mode)) return fault(path, "is no plain file");
  std::string text;
  char part[16 * 1024];
  for (;;) {  // bound: the limit
    const ssize_t got = ::read(file.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_fault(path);
    if (got == 0) return text;
    text.append(part, static_cast<std::size_t>(got));
    if (text.size() > limit) return fault(path, "is longer than " + std::to_string(limit) + " bytes");
  }
}

}  // namespace corelane::os
