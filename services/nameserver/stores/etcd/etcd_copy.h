// EtcdCopy keeps the content of an EtcdCache in a file of this host. A nameserver that starts while etcd is away can
// then serve names as they were last seen. A thread of its own writes the file a moment later, so no caller waits for
// the disk. Once etcd answers, only etcd's state counts.
//
// Threads: any; one at a time updates it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/mutex.h"
#include "orb/os/wait/condition_variable.h"
#include "services/nameserver/stores/etcd/etcd_copy_file.h"

namespace corelane::nameserver {

class EtcdCopy {
 public:
  // Returns nullptr without a path, or if the file cannot be used; the log says why. `place` names the etcd and the
  // prefix.
  static std::unique_ptr<EtcdCopy> open(const std::string& path, const std::string& place);
  // Throws std::system_error if the system gives no thread.
  EtcdCopy(std::string path, EtcdCopyFile file);
  // Writes what is not written yet.
  ~EtcdCopy();

  // Returns what the file held when it was opened, at the first call. Returns nothing for a new file.
  std::optional<EtcdCopyFile::Content> take_content() { return std::exchange(content_, std::nullopt); }
  const std::string& path() const { return path_; }

  // Takes the changes in etcd up to the revision. Does not wait.
  void keep(const std::vector<EtcdEvent>& events, std::uint64_t revision);
  // Notes that etcd is still followed. Does not wait.
  void confirm();

 private:
  void write_until_stopped();
  void say(const std::string& trouble);

  const std::string path_;
  std::optional<EtcdCopyFile::Content> content_;

  EtcdCopyFile file_;    // Thread: the writing one only.
  std::string trouble_;  // Thread: the writing one only. Why the file could not be written the last time.

  os::Mutex mutex_;
  os::ConditionVariable turn_;
  EtcdCopyNews news_ CORELANE_GUARDED_BY(mutex_);          // not written yet
  bool is_unwritten_ CORELANE_GUARDED_BY(mutex_) = false;  // some of news_ is not in the file yet
  bool is_due_ CORELANE_GUARDED_BY(mutex_) = false;        // must be written now
  Time confirm_from_ CORELANE_GUARDED_BY(mutex_);          // from then on, confirm() causes a write
  bool is_stopped_ CORELANE_GUARDED_BY(mutex_) = false;
  std::thread writing_;
};

}  // namespace corelane::nameserver
