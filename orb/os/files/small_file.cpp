#include "orb/os/files/small_file.h"

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

FileFault write_fault(const std::string& path) {
  return fault(path, std::string("cannot be written: ") + std::strerror(errno));
}

// Makes a new file or fails: it never writes to a link or file that is already there.
Fd made_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return Fd();
  return Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
}

}  // namespace

Expected<std::string, FileFault> read_small_file(const std::string& path, std::size_t limit) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));  // opening a pipe must not block
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

Expected<void, FileFault> write_small_file(const std::string& path, std::string_view text, mode_t mode) {
  const std::string beside = path + ".new";
  const Fd file = made_file(beside);
  if (!file) return write_fault(beside);
  const bool whole = write_all(file.get(), text) && (mode == 0 || ::fchmod(file.get(), mode) == 0);
  if (whole && ::rename(beside.c_str(), path.c_str()) == 0) return {};
  const FileFault why = write_fault(path);
  ::unlink(beside.c_str());
  return why;
}

bool write_all(int file, std::string_view text) noexcept {
  while (!text.empty()) {  // bound: the text
    const ssize_t put = ::write(file, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

}  // namespace corelane::os
