// Journal records on disk what the daemon changes on the host, and how it was before. Each entry is written before its
// change. The daemon's end, or the next start after a crash, undoes the changes. The runtime directory does not survive
// a reboot, and neither do the changes.
//
// File format: one line per entry, with fields separated by tabs. A line is a plus and the entry, or, after it was
// undone, a minus and the same entry. In a field, a control character, and a backslash before three octal digits, is
// written as \ooo. A torn line comes from a daemon that was killed while it wrote. It is skipped, since its change was
// not made yet. If other lines cannot be read, damage() describes them and the file is copied to PATH.damaged.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/os/fd.h"
#include "services/reserved/accounts/model.h"

namespace corelane::reserved {

// The file with the threads of a group, in a hierarchy of version 1.
inline constexpr const char* thread_list = "tasks";

struct JournalEntry {
  enum class Kind : std::uint8_t {
    group,  // the group `subject` was made in the hierarchy `where`
    value,  // the file `subject` in the hierarchy `where` contained `before`
    // home: the process (with `subject` thread_list: one thread) was in the group `before` of the hierarchy `where`
    home,
    affinity,   // the thread ran on the cores `before`; it got `subject` (empty: the cores of its group)
    policy,     // the thread was scheduled as `before` says, see scheduling_text()
    interrupt,  // the interrupt with number `subject` went to the cores `before`
    // mask: threads got the cores `subject`. A thread that has these, but no affinity entry, has inherited them. Then
    // its own cores are `before`.
    mask
  };
  Kind kind = Kind::group;
  std::string where{};
  std::string subject{};
  Process process{};
  std::string before{};

  friend bool operator==(const JournalEntry&, const JournalEntry&) = default;
};

class Journal {
 public:
  // Makes the file if there is none, and locks it: there is only one daemon per runtime directory. An error's text says
  // what is wrong and how to fix it.
  static Expected<Journal, std::string> open(const std::string& path);

  // Returns the changes that are not undone, in the order in which they were made. After open(): what a daemon that
  // died has left.
  const std::vector<JournalEntry>& entries() const noexcept { return entries_; }
  // Writes an entry. Call it before the change. If it fails, the change must not be made.
  Expected<void, std::string> add(const JournalEntry& entry);
  // Marks an entry as undone. Call it after that. Does nothing if there is no such entry.
  void drop(const JournalEntry& entry);
  const std::string& path() const noexcept { return path_; }
  // Returns what open() could not read, and where the copy of the file is; "" if all was read.
  const std::string& damage() const noexcept { return damage_; }

 private:
  Journal(std::string path, os::Fd file) : path_(std::move(path)), file_(std::move(file)) {}
  void read();
  void set_aside(std::size_t unread);
  bool append(char sign, const JournalEntry& entry);
  void shorten();

  std::string path_, damage_;
  os::Fd file_;
  std::vector<JournalEntry> entries_;
  std::size_t lines_ = 0;  // in the file
};

// Returns one line of the file, without its sign. Also used by tests.
std::string journal_line(const JournalEntry& entry);

}  // namespace corelane::reserved
