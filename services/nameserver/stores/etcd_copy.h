// EtcdCopy: what an EtcdCache has, also in a file of this host, so that a nameserver that starts while etcd is away
// finds names as one before it saw them last. The file is written by a thread of its own and is a moment behind: nobody
// waits for its disk. Once etcd answers, etcd alone counts.
//
// Threads: any; one at a time brings news.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/time.h"
#include "services/nameserver/stores/etcd_copy_file.h"

namespace corelane::nameserver {

class EtcdCopy {
 public:
  // None without a path, or where the file cannot be used: the log says why. `place`: which etcd, and where in it.
  static std::unique_ptr<EtcdCopy> open(const std::string& path, const std::string& place);
  // Throws std::system_error where the system gives no thread.
  EtcdCopy(std::string path, EtcdCopyFile file);
  // Writes what is not written yet.
  ~EtcdCopy();

  // What the file had when it was opened, once; nothing where it is new.
  std::optional<EtcdCopyFile::Content> take_content() { return std::exchange(content_, std::nullopt); }
  const std::string& path() const { return path_; }

  // What happened in etcd, up to the revision. Waits for nothing.
  void keep(const std::vector<EtcdEvent>& events, std::uint64_t revision);
  // Etcd is still followed. Waits for nothing.
  void confirm();

 private:
  void write_until_stopped();
  void say(const std::string& trouble);

  const std::string path_;
  std::optional<EtcdCopyFile::Content> content_;

  EtcdCopyFile file_;    // the writing thread's
  std::string trouble_;  // the writing thread's; why the file could not be written the last time

  std::mutex mutex_;
  std::condition_variable turn_;
  EtcdCopyNews news_;          // guarded by mutex_; not written yet
  bool is_unwritten_ = false;  // guarded by mutex_; the file lacks something of news_
  bool is_due_ = false;        // guarded by mutex_; it is to be written now
  Time confirm_from_;          // guarded by mutex_; from then on it is written that etcd is still followed
  bool is_stopped_ = false;    // guarded by mutex_
  std::thread writing_;
};

}  // namespace corelane::nameserver
