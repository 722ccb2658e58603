// Journal: what was changed on the host and how it was before, on disk before each change, so that the end of the
// daemon, and the next start after a crash, put it back. The runtime directory does not survive a reboot, nor do the
// changes.
//
// The file has a line for each entry, fields parted by tabs: a plus and the entry, or a minus and the same when it was
// put back. A control character within a field, and a backslash before three octal digits, is written as \ooo. A line
// that is the beginning of one, of a daemon that was killed while it wrote, is passed over: that change was not made
// yet. Of other lines that cannot be read damage() tells, and the file is copied aside.
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

// A group's file of threads in a hierarchy of version 1.
inline constexpr const char* thread_list = "tasks";

struct JournalEntry {
  enum class Kind : std::uint8_t {
    group,      // `subject` in the hierarchy `where` was made
    value,      // the file `subject` in the hierarchy `where` said `before`
    home,       // the process was in the group `before` of the hierarchy `where`; `subject` thread_list: the thread
    affinity,   // the thread ran on the cores `before`; it was given `subject` (empty: what its group has)
    policy,     // the thread was scheduled as `before` says, scheduling_text()
    interrupt,  // number `subject` went to the cores `before`
    mask        // threads got the cores `subject`: who has them and no entry has inherited them, and had `before`
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
  // Makes the file where there is none, and locks it: there is one daemon for a runtime directory. The text of a fault
  // says what, and how to mend it.
  static Expected<Journal, std::string> open(const std::string& path);

  // What is not put back, in the order in which it was changed. At open(): what a daemon that died left.
  const std::vector<JournalEntry>& entries() const noexcept { return entries_; }
  // Before the change. What cannot be written down is not to be changed.
  Expected<void, std::string> add(const JournalEntry& entry);
  // After it was put back. An entry that is not there changes nothing.
  void drop(const JournalEntry& entry);
  const std::string& path() const noexcept { return path_; }
  // What open() found and could not read, and where the whole file was put for whoever looks into it; "": nothing.
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
  std::size_t lines_ = 0;  // of the file
};

// One line of the file, without its sign; for tests, too.
std::string journal_line(const JournalEntry& entry);

}  // namespace corelane::reserved
