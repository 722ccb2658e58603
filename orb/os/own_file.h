// OwnFile: an open file that this process made, and its path, which it clears when the owner is destroyed, or else when
// the process ends by exit() or main's return. So a program whose main returns after an exception, or that forgot to
// destroy its ORB, leaves no sockets, locks and pages behind; one that a signal, abort() or _exit() ends does.
//
// A path that leads to another file by then stays, and so does everything in a child that fork() made: it is its
// parent's. At the end of the process the last made go first.
// Threads: any, one at a time for each object; the end may come on another one meanwhile.
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
  // Takes over `file`, which `path` leads to. std::bad_alloc, as by destruction.
  OwnFile(std::string path, Fd file);
  OwnFile(OwnFile&& other) noexcept : place_(std::exchange(other.place_, std::nullopt)) {}
  OwnFile& operator=(OwnFile&&) = delete;
  ~OwnFile();

  // Of one that was not moved from.
  const std::string& path() const noexcept;
  const Fd& file() const noexcept;
  // Whether the path leads to it.
  bool is_there() const noexcept;

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
