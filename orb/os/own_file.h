// OwnFile owns an open file that this process made, and its path. It removes the path when it is destroyed, or else
// when the process ends by exit() or by main's return. So a program whose main returns after an exception, or that
// forgot to destroy its ORB, leaves no sockets, locks and pages behind. A program that a signal, abort() or _exit()
// ends does leave them.
//
// A path that leads to another file by then is not removed. A child that fork() made removes nothing, because the files
// belong to its parent. At the end of the process, the newest files go first. From then on the process may make no
// more: another thread that makes one loses it at once. Threads: any, but one at a time for each object. Another thread
// may end the process meanwhile.
#pragma once

#include <sys/types.h>

#include <list>
#include <optional>
#include <string>
#include <utility>

#include "orb/os/fd.h"

namespace corelane::os {

class OwnFile {
 public:
  // Takes over `file`, which `path` leads to. Throws std::bad_alloc, and then has removed the path like the destructor.
  OwnFile(std::string path, Fd file);
  OwnFile(OwnFile&& other) noexcept : place_(std::exchange(other.place_, std::nullopt)) {}
  OwnFile& operator=(OwnFile&&) = delete;
  ~OwnFile();

  // Requires an object that was not moved from.
  const std::string& path() const noexcept;
  const Fd& file() const noexcept;
  // Returns whether the path leads to the file.
  bool is_there() const noexcept;

  // Returns whether the end of this process has removed its files, or is about to.
  static bool are_gone() noexcept;

 private:
  struct Entry {
    std::string path;
    Fd file;
    pid_t process{};

    bool is_there() const noexcept;
    void clear() const noexcept;
  };
  struct Living;
  static Living& living();

  std::optional<std::list<Entry>::iterator> place_;
};

}  // namespace corelane::os
