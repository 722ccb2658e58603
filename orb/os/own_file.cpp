#include "orb/os/own_file.h"

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "orb/os/file_lock.h"

namespace corelane::os {

struct OwnFile::Entry {
  std::string path;
  Fd file;
  pid_t process = getpid();

  bool is_there() const noexcept { return is_at(file, path.c_str()); }
  void clear() const noexcept {
    if (process == getpid() && is_there()) unlink(path.c_str());
  }
};

// Never destroyed: threads may still make and end files when static objects are.
struct OwnFile::Living {
  // Which adds files; another one does not even take the lock, which it may have as held.
  // relaxed: set before main ends, or by who forked
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
  Entry made{std::move(path), std::move(file)};
  std::list<Entry> one;
  try {
    one.emplace_back();
  } catch (const std::bad_alloc&) {
    made.clear();
    throw;
  }
  one.front() = std::move(made);
  Living& all = living();
  const std::lock_guard lock(all.mutex);
  all.process.store(getpid(), std::memory_order_relaxed);  // relaxed: see process
  all.entries.splice(all.entries.begin(), one);
  place_ = all.entries.begin();
}

OwnFile::~OwnFile() {
  if (!place_) return;
  (*place_)->clear();  // before a lock on the file goes with it
  Living& all = living();
  std::list<Entry> one;
  const std::lock_guard lock(all.mutex);
  one.splice(one.begin(), all.entries, *place_);
}

const std::string& OwnFile::path() const noexcept { return (*place_)->path; }
const Fd& OwnFile::file() const noexcept { return (*place_)->file; }
bool OwnFile::is_there() const noexcept { return (*place_)->is_there(); }

}  // namespace corelane::os
