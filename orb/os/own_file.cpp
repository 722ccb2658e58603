#include "orb/os/own_file.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "orb/os/file_lock.h"

namespace corelane::os {

bool OwnFile::Entry::is_there() const noexcept { return is_at(file, path.c_str()); }

void OwnFile::Entry::clear() const noexcept {
  if (process == getpid() && is_there()) unlink(path.c_str());
}

// Never destroyed: threads may still make and end files when static objects are.
struct OwnFile::Living {
  // The process that made a file last. A forked child that made none does not sweep: it may have inherited the mutex
  // locked. relaxed: written by this process before its exit()
  std::atomic<pid_t> process{0};
  std::mutex mutex;
  std::list<Entry> entries;  // the last made first; guarded by mutex

  static void clear_all() noexcept {
    Living& all = living();
    if (all.process.load(std::memory_order_relaxed) != getpid()) return;  // relaxed: see process
    const std::lock_guard lock(all.mutex);
    for (const Entry& entry : all.entries) entry.clear();
  }
};

OwnFile::Living& OwnFile::living() {
  static Living* const instance = [] {
    auto* const made = new Living;
    (void)std::atexit(Living::clear_all);  // without it they wait for the next process that sweeps
    return made;
  }();
  return *instance;
}

OwnFile::OwnFile(std::string path, Fd file) {
  Entry made{std::move(path), std::move(file), getpid()};
  std::list<Entry> one;
  Living* all = nullptr;
  try {
    one.emplace_back();
    all = &living();
  } catch (const std::bad_alloc&) {
    made.clear();
    throw;
  }
  one.front() = std::move(made);
  const std::lock_guard lock(all->mutex);
  all->process.store(getpid(), std::memory_order_relaxed);  // relaxed: see process
  all->entries.splice(all->entries.begin(), one);
  place_ = all->entries.begin();
}

// The path is cleared before the file is closed, since a lock on it may say that the path is taken; and with the mutex,
// since whoever takes the path after it was cleared once must keep it.
OwnFile::~OwnFile() {
  if (!place_) return;
  // In a forked child the mutex may be locked by a thread that is not there: the entry stays, its file is closed.
  if ((*place_)->process != getpid()) {
    (*place_)->file.reset();
    return;
  }
  Living& all = living();
  std::list<Entry> one;
  const std::lock_guard lock(all.mutex);
  (*place_)->clear();
  one.splice(one.begin(), all.entries, *place_);
}

const std::string& OwnFile::path() const noexcept { return (*place_)->path; }
const Fd& OwnFile::file() const noexcept { return (*place_)->file; }
bool OwnFile::is_there() const noexcept { return (*place_)->is_there(); }

}  // namespace corelane::os
