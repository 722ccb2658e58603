#include "orb/os/file_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "orb/base/errors.h"

namespace corelane::os {
namespace {

using errors::not_stored;

struct flock make_request(LockRange range, short type) noexcept {
  struct flock request {};  // l_pid stays 0, these locks require it
  request.l_type = type;
  request.l_whence = SEEK_SET;
  request.l_start = range.start;
  request.l_len = range.length;
  return request;
}

short type_of(LockKind kind) noexcept { return kind == LockKind::shared ? F_RDLCK : F_WRLCK; }

// Returns 0 or the error number. Bound: one turn for each signal (EINTR).
int control(const Fd& file, int command, struct flock& request) noexcept {
  while (fcntl(file.get(), command, &request) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

}  // namespace

Expected<bool> try_lock(const Fd& file, LockRange range, LockKind kind) noexcept {
  struct flock request = make_request(range, type_of(kind));
  const int failure = control(file, F_OFD_SETLK, request);
  if (failure == EAGAIN || failure == EACCES) return false;
  if (failure != 0) return not_stored;
  return true;
}

Expected<void> unlock(const Fd& file, LockRange range) noexcept {
  struct flock request = make_request(range, F_UNLCK);
  if (control(file, F_OFD_SETLK, request) != 0) return not_stored;
  return {};
}

Expected<std::optional<LockRange>> conflicting_lock(const Fd& file, LockRange range) noexcept {
  struct flock request = make_request(range, F_WRLCK);
  if (control(file, F_OFD_GETLK, request) != 0) return not_stored;
  if (request.l_type == F_UNLCK) return std::optional<LockRange>{};
  return std::optional(LockRange{.start = request.l_start, .length = request.l_len});
}

Expected<bool> is_locked_elsewhere(const Fd& file, LockRange range) noexcept {
  const auto found = conflicting_lock(file, range);
  if (!found) return found.error();
  return found->has_value();
}

bool is_at(const Fd& file, const char* path) noexcept {
  struct stat here {};
  struct stat there {};
  return fstat(file.get(), &here) == 0 && lstat(path, &there) == 0 && here.st_dev == there.st_dev &&
         here.st_ino == there.st_ino;
}

Expected<Fd, ClaimFault> claim_file(const char* path) noexcept {
  using Kind = ClaimFault::Kind;
  // Bound: repeats only if the last user removed the file between open() and the lock.
  for (;;) {
    Fd file(::open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600));
    if (!file && (errno == ELOOP || errno == EISDIR || errno == ENXIO)) return ClaimFault{.kind = Kind::foreign};
    struct stat found {};
    if (!file || fstat(file.get(), &found) != 0) return ClaimFault{.number = errno};
    if (!S_ISREG(found.st_mode) || found.st_size != 0) return ClaimFault{.kind = Kind::foreign};
    const auto locked = try_lock(file);
    if (!locked) return ClaimFault{.number = ENOLCK};
    if (!*locked) return ClaimFault{.kind = Kind::held};
    if (is_at(file, path)) return file;
  }
}

}  // namespace corelane::os
