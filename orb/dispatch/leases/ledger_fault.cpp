#include "orb/dispatch/leases/ledger_fault.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "orb/base/errors.h"
#include "orb/os/files/directory.h"
#include "orb/os/process/descriptor_limit.h"

namespace corelane::dispatch::ledger {
namespace {

LedgerFault no_plain_file(const std::string& path, unsigned mode) {
  return {not_allowed, path + " is " + os::kind_of_file(mode) +
                           ", no plain file; remove it if no program needs it, or " + elsewhere};
}

LedgerFault cannot_open(const std::string& path, int reason) {
  struct stat found {};
  const bool there = lstat(path.c_str(), &found) == 0;
  if (there && !S_ISREG(found.st_mode)) return no_plain_file(path, found.st_mode);
  if (os::is_out_of_descriptors(reason)) return {not_allowed, path + ": " + os::out_of_descriptors(reason)};
  std::string text = path + " cannot be opened for writing: " + std::strerror(reason);
  if (there && reason == EACCES)
    text += "; it belongs to user " + std::to_string(found.st_uid) + ", this is user " + std::to_string(geteuid());
  return {not_allowed, text + "; let this user write there, or " + elsewhere};
}

}  // namespace

Expected<os::Fd, LedgerFault> open_file(const std::string& path) {
  os::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0660));
  if (!file) return cannot_open(path, errno);
  struct stat found {};
  if (fstat(file.get(), &found) != 0) return cannot_open(path, errno);
  if (!S_ISREG(found.st_mode)) return no_plain_file(path, found.st_mode);
  return file;
}

std::string server_text(std::int32_t pid) {
  return pid == 0 ? "another server" : "the server with pid " + std::to_string(pid);
}

LedgerFault cannot_write(const std::string& path, int reason) {
  const std::string here = reason == EFBIG ? "raise the limit of file sizes (ulimit -f)" : "make room there";
  return {errors::not_stored,
          path + " cannot be written: " + std::strerror(reason) + "; " + here + ", or " + elsewhere};
}

}  // namespace corelane::dispatch::ledger
