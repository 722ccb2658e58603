#include "orb/os/file_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "orb/base/minor.h"

namespace corelane::os {
namespace {

constexpr Error refused{.kind = ErrorKind::persist_store, .minor = minor::system_refused};

struct flock make_request(LockRange range, short type) noexcept {
  struct flock request {};  // l_pid stays 0, as these locks demand
  request.l_type = type;
  request.l_whence = SEEK_SET;
  request.l_start = range.start;
  request.l_len = range.length;
  return request;
}

short type_of(LockKind kind) noexcept { return kind == LockKind::shared ? F_RDLCK : F_WRLCK; }

// 0 or the error number. Bound: EINTR only, one turn for each signal.
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
  if (failure != 0) return refused;
  return true;
}

Expected<void> unlock(const Fd& file, LockRange range) noexcept {
  struct flock request = make_request(range, F_UNLCK);
  if (control(file, F_OFD_SETLK, request) != 0) return refused;
  return {};
}

Expected<std::optional<LockRange>> conflicting_lock(const Fd& file, LockRange range) noexcept {
  struct flock request = make_request(range, F_WRLCK);
  if (control(file, F_OFD_GETLK, request) != 0) return refused;
  if (request.l_type == F_UNLCK) return std::optional<LockRange>{};
  return std::optional(LockRange{.start = request.l_start, .length = request.l_len});
}

Expected<bool> is_locked_elsewhere(const Fd& file, LockRange range) noexcept {
  const auto found = conflicting_lock(file, range);
  if (!found) return found.error();
  return found->has_value();
}

}  // namespace corelane::os
