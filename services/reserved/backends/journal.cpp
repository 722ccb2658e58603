#include "services/reserved/backends/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <sstream>
#include <string_view>

#include "orb/base/text/counted.h"
#include "orb/os/file_lock.h"
#include "orb/os/files/directory.h"
#include "orb/os/files/small_file.h"
#include "orb/os/machine/core_list.h"
#include "orb/os/peers/user_name.h"
#include "services/reserved/backends/group_files.h"

namespace corelane::reserved {
namespace {

constexpr std::array<std::string_view, 7> kind_names{"group",  "value",     "home", "affinity",
                                                     "policy", "interrupt", "mask"};
constexpr std::size_t longest_journal = 64 * 1024 * 1024;

bool leaves_its_folder(std::string_view path) {
  const std::string framed = "/" + std::string(path) + "/";
  return framed.find("/../") != framed.npos;
}

// Recognizes "36/smp_affinity_list" and "default_smp_affinity", which are files in /proc/irq.
bool is_interrupt_file(std::string_view path) {
  const std::size_t digits = path.find_first_not_of("0123456789");
  return path == "default_smp_affinity" ||
         (digits != path.npos && digits > 0 && path.substr(digits) == "/smp_affinity_list");
}

// Recognizes an escape: a backslash and three octal digits, with a value of one byte.
bool is_escape(std::string_view text) {
  const auto is_octal = [](char digit) { return digit >= '0' && digit <= '7'; };
  return text.size() >= 4 && text[0] == '\\' && text[1] <= '3' && std::ranges::all_of(text.substr(1, 3), is_octal);
}

// Names of control groups may contain any byte but a newline. Many contain backslashes; a backslash that begins no
// escape is kept as it is.
std::string escaped(std::string_view text) {
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < ' ' || byte == 0x7f || is_escape(text.substr(i)))
      line += {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + (byte >> 3 & 7)),
               static_cast<char>('0' + (byte & 7))};
    else
      line += text[i];
  }
  return line;
}

std::string unescaped(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    const bool escape = is_escape(line);
    text += escape ? static_cast<char>((line[1] - '0') << 6 | (line[2] - '0') << 3 | (line[3] - '0')) : line[0];
    line.remove_prefix(escape ? 4 : 1);
  }
  return text;
}

bool is_hierarchy(std::string_view name) {
  constexpr std::array<std::string_view, 6> known{"cpuset", "cpu", "memory", "blkio", "resctrl", "unified"};
  return std::ranges::find(known, name) != known.end();
}

std::string_view last_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Recognizes "box/corelane-r17", and "m17" in it.
bool is_made_group(std::string_view path) {
  const std::string_view name = last_of(path);
  const std::string_view above = path.substr(0, path.size() - std::min(path.size(), name.size() + 1));
  return name.starts_with("corelane-") || (name.starts_with("m") && last_of(above).starts_with("corelane-"));
}

bool is_changed_file(std::string_view path) {
  constexpr std::array<std::string_view, 3> known{"cpuset.sched_load_balance", "cgroup.subtree_control", "schemata"};
  return std::ranges::find(known, last_of(path)) != known.end();
}

bool is_core_list(const std::string& text) { return text.empty() || os::parse_core_list(text).has_value(); }

// Checks the letters of a list of cores (one interrupt), of a mask such as f,ffffffff (future interrupts), or of a
// policy.
bool is_made_of(std::string_view text, std::string_view letters) {
  return text.find_first_not_of(letters) == text.npos;
}

// Checks that the entry names something that this program changes, with a value which it can have had. A damaged entry
// must not change anything else: removing a group also removes the groups below it.
bool is_sound(const JournalEntry& entry) {
  using EntryKind = JournalEntry::Kind;
  if (leaves_its_folder(entry.subject)) return false;
  switch (entry.kind) {
    case EntryKind::group:
      return is_hierarchy(entry.where) && is_made_group(entry.subject) && !leaves_its_folder(entry.before);
    case EntryKind::value:
      return is_hierarchy(entry.where) && is_changed_file(entry.subject);
    case EntryKind::home:
      return is_hierarchy(entry.where) && entry.process.pid > 0 && !leaves_its_folder(entry.before);
    case EntryKind::affinity:
      return entry.process.pid > 0 && is_core_list(entry.subject) && is_core_list(entry.before);
    case EntryKind::policy:
      return entry.process.pid > 0 && is_made_of(entry.before, "0123456789 -");
    case EntryKind::interrupt:
      return is_interrupt_file(entry.subject) && is_made_of(entry.before, "0123456789abcdef,-");
    case EntryKind::mask:
      return is_core_list(entry.subject) && is_core_list(entry.before);
  }
  return false;
}

std::optional<JournalEntry> parse_entry(const std::string& line) {
  std::array<std::string, 6> fields;
  std::istringstream text(line);
  for (std::string& field : fields)
    if (!std::getline(text, field, '\t')) return std::nullopt;
  const auto* kind = std::ranges::find(kind_names, fields[0]);
  if (kind == kind_names.end() || !text.eof()) return std::nullopt;
  JournalEntry entry{.kind = static_cast<JournalEntry::Kind>(kind - kind_names.begin()),
                     .where = unescaped(fields[1]),
                     .subject = unescaped(fields[2]),
                     .before = unescaped(fields[5].substr(0, fields[5].size() - 1))};  // see journal_line()
  std::istringstream numbers(fields[3] + " " + fields[4]);
  if (!fields[5].ends_with('.') || !(numbers >> entry.process.pid >> entry.process.start_ticks)) return std::nullopt;
  if (!is_sound(entry)) return std::nullopt;
  return entry;
}

// Recognizes a torn line: the beginning of a line, without the point that ends a whole one.
bool is_torn(const std::string& line) {
  if (line.ends_with('.')) return false;
  if (line.front() != '+' && line.front() != '-') return false;
  const std::string kind = line.substr(1, line.find('\t') - 1);
  const bool whole_kind = line.find('\t') != std::string::npos;
  return std::ranges::any_of(kind_names,
                             [&](std::string_view name) { return whole_kind ? name == kind : name.starts_with(kind); });
}

std::string whole_file(int file) {
  std::string text;
  char part[4096];
  for (ssize_t count = 0; text.size() < longest_journal; text.append(part, static_cast<std::size_t>(count))) {
    count = pread(file, part, sizeof part, static_cast<off_t>(text.size()));
    if (count <= 0) break;
  }
  return text;
}

std::string open_fault(const std::string& path, int number) {
  const std::string text = path + ": cannot be opened: " + errno_text(number);
  if (number == ELOOP || number == EISDIR) return text + "; remove it";
  return text + (number == EACCES || number == EPERM ? os::ownership_text(path) : "");
}

}  // namespace

// The line ends with a point. It distinguishes an empty last field, and a whole line, from a torn one.
std::string journal_line(const JournalEntry& entry) {
  return std::string(kind_names[static_cast<std::size_t>(entry.kind)]) + "\t" + escaped(entry.where) + "\t" +
         escaped(entry.subject) + "\t" + std::to_string(entry.process.pid) + "\t" +
         std::to_string(entry.process.start_ticks) + "\t" + escaped(entry.before) + ".";
}

Expected<Journal, std::string> Journal::open(const std::string& path) {
  os::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return open_fault(path, errno);
  struct stat found {};
  if (fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode))
    return path + ": is " + os::kind_of_file(found.st_mode) + ", no file; remove it";
  if (found.st_uid != geteuid())
    return path + ": belongs to user " + os::name_of_user(found.st_uid) + ", and this is user " +
           os::name_of_user(geteuid()) + "; remove it, if no corelane-reserved of that user needs it";
  const auto locked = os::try_lock(file);
  if (!locked) return path + ": cannot be locked; its file system has no locks";
  if (!*locked) return path + ": another corelane-reserved uses it; stop that one first";
  Journal journal(path, std::move(file));
  journal.read();
  return journal;
}

void Journal::read() {
  std::size_t unread = 0;
  std::istringstream text(whole_file(file_.get()));
  for (std::string line; std::getline(text, line); ++lines_) {
    if (line.empty()) continue;
    const auto entry = parse_entry(line.substr(1));
    if (entry && line.front() == '+')
      entries_.push_back(*entry);
    else if (entry && line.front() == '-')
      std::erase(entries_, *entry);
    else if (!is_torn(line))
      ++unread;
  }
  if (unread > 0) set_aside(unread);
}

// Copies the damaged file. The readable entries are still undone from the file itself.
void Journal::set_aside(std::size_t unread) {
  const std::string copy = path_ + ".damaged";
  ::unlink(copy.c_str());
  const os::Fd file(::open(copy.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  const bool kept = file && os::write_all(file.get(), whole_file(file_.get()));
  damage_ = path_ + ": " + counted(unread, "line is", "lines are") +
            " damaged, and the changes that they record are not undone: look for threads and groups that are bound to "
            "few cores (taskset -p, the cpusets named corelane-*)" +
            (kept ? "; the damaged file is kept as " + copy : "");
  if (kept) shorten();
}

bool Journal::append(char sign, const JournalEntry& entry) {
  ++lines_;
  return os::write_all(file_.get(), "\n" + (sign + journal_line(entry)));  // the newline ends a torn line
}

Expected<void, std::string> Journal::add(const JournalEntry& entry) {
  if (!append('+', entry)) return path_ + ": cannot be written: " + errno_text(errno) + "; make room there";
  entries_.push_back(entry);
  return {};
}

void Journal::drop(const JournalEntry& entry) {
  const auto found = std::ranges::find(entries_, entry);
  if (found == entries_.end()) return;
  entries_.erase(found);
  append('-', entry);  // if this line is lost, a crash only costs a needless restore
  shorten();
}

// Replaces the file with a shorter one, or empties it if no entry is left. A kill in between leaves the old or the new
// file, each of them whole.
void Journal::shorten() {
  constexpr std::size_t many = 1000;
  if (entries_.empty()) {
    if (ftruncate(file_.get(), 0) == 0) lines_ = 0;
    return;
  }
  if (lines_ < many + 2 * entries_.size()) return;
  std::string text;
  for (const JournalEntry& entry : entries_) text += "+" + journal_line(entry) + "\n";
  const std::string fresh = path_ + ".new";
  os::Fd file(::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file || !os::try_lock(file).value_or(false) || !os::write_all(file.get(), text)) return;
  if (rename(fresh.c_str(), path_.c_str()) != 0) return;
  file_ = std::move(file);
  lines_ = entries_.size();
}

}  // namespace corelane::reserved
