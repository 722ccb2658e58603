#include "orb/os/own_file.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "orb/base/thread_safety.h"
#include "orb/os/file_lock.h"
#include "orb/os/lock.h"
#include "orb/os/mutex.h"

namespace corelane::os {

bool OwnFile::Entry::is_there() const noexcept { return is_at(file, path.c_str()); }

void OwnFile::Entry::clear() const noexcept {
  if (process == getpid() && is_there()) unlink(path.c_str());
}

// Never destroyed: threads may still make and end files while static objects are destroyed.
struct OwnFile::Living {
  // The last process that made a file. A forked child that made no file does not remove files at its exit. It may have
  // inherited the mutex in a locked state. relaxed: written by this process before its exit()
  std::atomic<pid_t> process{0};
  Mutex mutex;
  std::list<Entry> entries CORELANE_GUARDED_BY(mutex);  // newest first
  // The process that has removed its files: this one, or a parent that forked meanwhile.
  pid_t ended CORELANE_GUARDED_BY(mutex) = 0;

  static void clear_all() noexcept {
    Living& all = living();
    if (all.process.load(std::memory_order_relaxed) != getpid()) return;  // relaxed: see process
    const LockGuard lock(all.mutex);
    all.ended = getpid();
    for (const Entry& entry : all.entries) entry.clear();
  }
};

OwnFile::Living& OwnFile::living() {
  static Living* const instance = [] {
    auto* const made = new Living;
    (void)std::atexit(Living::clear_all);  // if this fails, the next process that sweeps removes the files
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
  const LockGuard lock(all->mutex);
  all->process.store(getpid(), std::memory_order_relaxed);  // relaxed: see process
  all->entries.splice(all->entries.begin(), one);
  place_ = all->entries.begin();
  if (all->ended == getpid()) (*place_)->clear();
}

// Removes the path before the file is closed, because a lock on the file may mean that the path is taken. Holds the
// mutex, so that it does not remove the file of the next owner of the path.
OwnFile::~OwnFile() {
  if (!place_) return;
  // In a forked child, a thread that does not exist there may hold the mutex. So the entry stays and only its file is
  // closed.
  if ((*place_)->process != getpid()) {
    (*place_)->file.reset();
    return;
  }
  Living& all = living();
  std::list<Entry> one;
  const LockGuard lock(all.mutex);
  (*place_)->clear();
  one.splice(one.begin(), all.entries, *place_);
}

const std::string& OwnFile::path() const noexcept { return (*place_)->path; }
const Fd& OwnFile::file() const noexcept { return (*place_)->file; }
bool OwnFile::is_there() const noexcept { return (*place_)->is_there(); }

bool OwnFile::are_gone() noexcept {
  Living& all = living();
  const LockGuard lock(all.mutex);
  return all.ended == getpid();
}

}  // namespace corelane::os
