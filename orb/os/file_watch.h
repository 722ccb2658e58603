// FileWatch: whether anything was done to a file's place, owner, times or, by somebody who is done with it, content
// since it was asked last, for one system call without a walk along the path (inotify). The kernel notes what is done
// before the call that does it returns, whoever makes it. Own writes are not noted: only closings are.
//
// Noted: the file is renamed, removed, replaced, touched (touch_file()), or closed by somebody who could write it; its
// directory is renamed or removed. Not noted: a directory further up is renamed, or something mounted over one.
// Threads: one at a time.
#pragma once

#include "orb/os/fd.h"

namespace corelane::os {

class FileWatch {
 public:
  FileWatch() = default;  // of nothing: never quiet
  // Where that cannot be had (fs.inotify.max_user_instances is used up, or no /proc) it watches nothing.
  FileWatch(const Fd& file, const char* directory) noexcept;

  // Nothing has come since clear(), for certain.
  bool is_quiet() const noexcept;
  // Forgets what has come; what comes from the beginning of the call on may be kept.
  void clear() const noexcept;

 private:
  Fd queue_;
};

// Tells all who watch the file. Needs the right to write it. False: errno says why.
bool touch_file(const Fd& file) noexcept;

}  // namespace corelane::os
