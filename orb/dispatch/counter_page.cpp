#include "orb/dispatch/counter_page.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

#include "orb/base/errors.h"
#include "orb/os/fd.h"
#include "orb/os/file_lock.h"
#include "orb/os/files/file_room.h"
#include "orb/os/machine/host.h"
#include "orb/os/process/size_limit_guard.h"

namespace corelane::dispatch {
namespace {

using errors::not_stored;
constexpr std::uint64_t magic = 0x53'54'4e'55'4f'43'4c'43;  // "CLCOUNTS"
constexpr std::size_t header_words = 32, core_words = 5, task_words = 42, refusal_words = 57;
constexpr std::size_t sequence_word = 5, name_word = 20, label_word = 24, holder_word = 36, loser_words = 4,
                      refused_label_word = 45;
static_assert(loser_words * sizeof(std::uint64_t) == sizeof(sched::Refusal::loser_name));
static_assert(loser_words * sizeof(std::uint64_t) == sizeof(sched::SlowedBudget::beside));
static_assert((refusal_words - refused_label_word) * sizeof(std::uint64_t) == RefusalLog::label_length + 1);
constexpr std::size_t most_cores = 4096, most_tasks = 100'000;
constexpr std::string_view prefix = "counters-";
constexpr int most_namesakes = 64;  // processes with one pid, in different namespaces

std::size_t words_for(std::size_t cores, std::size_t tasks, std::size_t refusals = RefusalLog::most) {
  return header_words + cores * core_words + tasks * task_words + refusals * refusal_words;
}

// Writes word after word.
class Pen {
 public:
  explicit Pen(std::span<std::uint64_t> words) : words_(words) {}
  template <typename Number>
  Pen& put(Number value) {
    words_[at_++] = static_cast<std::uint64_t>(value);
    return *this;
  }
  void text(std::string_view text, std::size_t words) {
    for (std::size_t i = 0; i < words; ++i) {
      std::uint64_t word = 0;
      const std::string_view part = text.substr(std::min(text.size(), i * sizeof word));
      // The last byte stays zero.
      std::memcpy(&word, part.data(), std::min(part.size(), sizeof word - (i + 1 == words ? 1 : 0)));
      put(word);
    }
  }

 private:
  const std::span<std::uint64_t> words_;
  std::size_t at_ = 0;
};

// Reads word after word. An enumerator that this version does not know makes the page unsound, because its meaning is
// unknown.
class Glass {
 public:
  Glass(std::span<const std::uint64_t> words, bool& sound) : words_(words), sound_(sound) {}
  std::uint64_t number() { return words_[at_++]; }
  template <typename Field>
  void get(Field& field) {
    field = static_cast<Field>(number());
  }
  template <typename Enumerator>
  void get(Enumerator& field, Enumerator last) {
    const std::uint64_t value = number();
    sound_ = sound_ && value <= static_cast<std::uint64_t>(last);
    field = static_cast<Enumerator>(value);
  }
  void get(Duration& field) { field = Duration{static_cast<std::int64_t>(number())}; }
  std::string text(std::size_t words) {
    std::string text;
    for (std::size_t i = 0; i < words; ++i) {
      const std::uint64_t word = number();
      text.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
    return text.substr(0, text.find('\0'));
  }

 private:
  const std::span<const std::uint64_t> words_;
  bool& sound_;
  std::size_t at_ = 0;
};

constexpr std::uint64_t direct_bit = 1, without_fifo_bit = 2, unguarded_bit = 4;

std::uint64_t bits_of(const PromiseConditions& conditions) {
  return (conditions.direct ? direct_bit : 0) | (conditions.real_time ? 0 : without_fifo_bit) |
         (conditions.guarded ? 0 : unguarded_bit);
}

// Returns false if there are bits that this version does not know.
bool put_bits(std::uint64_t bits, PromiseConditions& conditions) {
  conditions.direct = (bits & direct_bit) != 0;
  conditions.real_time = (bits & without_fifo_bit) == 0;
  conditions.guarded = (bits & unguarded_bit) == 0;
  return bits < 2 * unguarded_bit;
}

void write_core(std::span<std::uint64_t> words, const CoreCounters& core) {
  Pen(words).put(core.core.value).put(core.capacity).put(core.admitted).put(core.tasks).put(core.order);
}

void write_contract(Pen& pen, const Contract& contract) {
  pen.put(contract.period.count()).put(contract.deadline.count()).put(contract.budget.count());
  pen.put(contract.jitter.count()).put(contract.suspension.count());
  pen.put(contract.importance).put(contract.on_overrun).put(contract.intensity);
}

void write_task(std::span<std::uint64_t> words, const TaskCounters& task) {
  Pen pen(words);
  pen.put(task.task.value).put(task.owner.value).put(task.core.value).put(task.native);
  write_contract(pen, task.contract);
  pen.put(task.bound.count());
  pen.put(task.jobs).put(task.misses).put(task.overruns);
  pen.put(task.p50.count()).put(task.p99.count()).put(task.max.count());
  pen.put(task.blocks).put(task.oversleeps).put(task.refused);
  pen.put(task.used.time_since_epoch().count()).put(task.thread);
  pen.text(task.label, holder_word - label_word);
  pen.text(task.holder, task_words - holder_word);
}

void write_slowed(Pen& pen, const sched::SlowedBudget& slowed) {
  pen.put(slowed.asked.count()).put(slowed.analyzed.count()).put(slowed.factor);
  pen.text(slowed.beside.data(), loser_words);
}

void write_refusal(std::span<std::uint64_t> words, const RefusedAdmission& refused) {
  const sched::Refusal& why = refused.why;
  Pen pen(words);
  pen.put(refused.asked.time_since_epoch().count()).put(refused.times).put(refused.owner.value);
  write_contract(pen, refused.contract);
  pen.put(why.code).put(why.closest.value).put(why.loser.value).put(why.response.count()).put(why.deadline.count());
  pen.put(why.nearest.period.count()).put(why.nearest.deadline.count()).put(why.nearest.budget.count());
  pen.put(why.nearest.jitter.count()).put(why.nearest.suspension.count());
  pen.put(why.jitter.count()).put(why.tasks).put(why.platform).put(why.others).put(why.others_platform);
  pen.text(why.loser_name.data(), loser_words);
  pen.put(why.unproposed);
  write_slowed(pen, why.slowed);
  write_slowed(pen, why.loser_slowed);
  pen.text(refused.label, refusal_words - refused_label_word);
}

CoreCounters read_core(std::span<const std::uint64_t> words, bool& sound) {
  CoreCounters core;
  Glass glass(words, sound);
  glass.get(core.core.value), glass.get(core.capacity), glass.get(core.admitted), glass.get(core.tasks);
  glass.get(core.order, sched::CoreOrder::served);
  return core;
}

void read_contract(Glass& glass, Contract& contract) {
  glass.get(contract.period), glass.get(contract.deadline), glass.get(contract.budget);
  glass.get(contract.jitter), glass.get(contract.suspension);
  glass.get(contract.importance), glass.get(contract.on_overrun, OverrunPolicy::cancel);
  glass.get(contract.intensity);
}

TaskCounters read_task(std::span<const std::uint64_t> words, bool& sound) {
  TaskCounters task;
  Glass glass(words, sound);
  glass.get(task.task.value), glass.get(task.owner.value), glass.get(task.core.value), glass.get(task.native);
  read_contract(glass, task.contract);
  glass.get(task.bound);
  glass.get(task.jobs), glass.get(task.misses), glass.get(task.overruns);
  glass.get(task.p50), glass.get(task.p99), glass.get(task.max);
  glass.get(task.blocks), glass.get(task.oversleeps), glass.get(task.refused);
  task.used = Time{Duration{static_cast<std::int64_t>(glass.number())}};
  glass.get(task.thread);
  task.label = glass.text(holder_word - label_word);
  task.holder = glass.text(task_words - holder_word);
  return task;
}

void read_slowed(Glass& glass, sched::SlowedBudget& slowed) {
  glass.get(slowed.asked), glass.get(slowed.analyzed), glass.get(slowed.factor);
  glass.text(loser_words).copy(slowed.beside.data(), slowed.beside.size() - 1);
}

RefusedAdmission read_refusal(std::span<const std::uint64_t> words, bool& sound) {
  RefusedAdmission refused;
  sched::Refusal& why = refused.why;
  Glass glass(words, sound);
  refused.asked = Time{Duration{static_cast<std::int64_t>(glass.number())}};
  glass.get(refused.times), glass.get(refused.owner.value);
  read_contract(glass, refused.contract);
  glass.get(why.code), glass.get(why.closest.value), glass.get(why.loser.value);
  glass.get(why.response), glass.get(why.deadline);
  glass.get(why.nearest.period), glass.get(why.nearest.deadline), glass.get(why.nearest.budget);
  glass.get(why.nearest.jitter), glass.get(why.nearest.suspension);
  glass.get(why.jitter), glass.get(why.tasks), glass.get(why.platform);
  glass.get(why.others), glass.get(why.others_platform);
  glass.text(loser_words).copy(why.loser_name.data(), why.loser_name.size() - 1);
  glass.get(why.unproposed, sched::Unproposed::no_time);
  read_slowed(glass, why.slowed);
  read_slowed(glass, why.loser_slowed);
  refused.label = glass.text(refusal_words - refused_label_word);
  return refused;
}

std::optional<ProcessCounters> read_words(std::span<const std::uint64_t> words) {
  ProcessCounters counters;
  bool sound = true;
  Glass glass(words, sound);
  if (glass.number() != magic || glass.number() != page_version) return std::nullopt;
  if (glass.number() > words.size() * sizeof(std::uint64_t)) return std::nullopt;
  glass.get(counters.pid), glass.get(counters.start_ticks);
  (void)glass.number();
  counters.written = Time{Duration{static_cast<std::int64_t>(glass.number())}};
  glass.get(counters.admitted), glass.get(counters.refused), glass.get(counters.jobs_refused);
  glass.get(counters.best_effort_jobs), glass.get(counters.pid_namespace);
  const std::uint64_t cores = glass.number(), tasks = glass.number();
  (void)glass.number();
  glass.get(counters.conditions.guarantee, Guarantee::priorities);
  const std::uint64_t refusals = glass.number();
  (void)glass.number();
  glass.get(counters.queue_full);
  sound = put_bits(glass.number(), counters.conditions) && sound;
  counters.program = glass.text(header_words - name_word);
  if (cores > most_cores || tasks > most_tasks || refusals > RefusalLog::most) return std::nullopt;
  if (words_for(cores, tasks, refusals) > words.size()) return std::nullopt;
  std::span<const std::uint64_t> rest = words.subspan(header_words);
  for (std::uint64_t i = 0; i < cores; ++i, rest = rest.subspan(core_words))
    counters.cores.push_back(read_core(rest, sound));
  for (std::uint64_t i = 0; i < tasks; ++i, rest = rest.subspan(task_words))
    counters.tasks.push_back(read_task(rest, sound));
  for (std::uint64_t i = 0; i < refusals; ++i, rest = rest.subspan(refusal_words))
    counters.refusals.push_back(read_refusal(rest, sound));
  return sound ? std::optional(std::move(counters)) : std::nullopt;
}

// `access`: O_RDONLY or O_RDWR. The owner of a page notices when a descriptor that could write it is closed.
os::Fd open_page(const std::string& path, int access) noexcept {
  return os::Fd(::open(path.c_str(), access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
}

// Returns the content of the file at a time when its owner does not write it.
std::optional<ProcessCounters> read_file(const std::string& path) {
  const os::Fd file = open_page(path, O_RDONLY);
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  const auto size = static_cast<std::size_t>(found.st_size) / sizeof(std::uint64_t) * sizeof(std::uint64_t);
  if (size < header_words * sizeof(std::uint64_t)) return std::nullopt;
  if (size > words_for(most_cores, most_tasks) * sizeof(std::uint64_t)) return std::nullopt;  // larger than any page
  std::vector<std::uint64_t> words(size / sizeof(std::uint64_t));
  for (int attempt = 0; attempt < 20; ++attempt) {
    if (::pread(file.get(), words.data(), size, 0) != static_cast<ssize_t>(size)) return std::nullopt;
    std::uint64_t after = 0;
    const bool read = ::pread(file.get(), &after, sizeof after, sequence_word * sizeof after) == sizeof after;
    if (read && after == words[sequence_word])
      if (auto counters = read_page(words)) return counters;
    ::usleep(1000);
  }
  return std::nullopt;
}

// Returns the process id in a page's name; 0 for other files.
std::int32_t pid_of(const std::string& name) {
  std::int32_t pid = 0;
  if (!name.starts_with(prefix)) return 0;
  const char* const last = name.data() + name.size();
  const auto [end, fault] = std::from_chars(name.data() + prefix.size(), last, pid);
  const bool more =
      end != last && *end == '.' && std::all_of(end + 1, last, [](char c) { return c >= '0' && c <= '9'; });
  return fault == std::errc{} && (end == last || more) ? pid : 0;
}

// Returns whether the file is a page, or one that its process did not live to fill.
bool is_page(const os::Fd& file) noexcept {
  struct stat found {};
  if (::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return false;
  std::uint64_t first = 0;
  const ssize_t got = ::pread(file.get(), &first, sizeof first, 0);
  return got == 0 || (got == sizeof first && (first == 0 || first == magic));
}

// A page that is not locked has no owner any more. The lock works across pid namespaces, too.
bool is_stale(const os::Fd& file) noexcept {
  if (!file || !is_page(file)) return false;
  const auto locked = os::is_locked_elsewhere(file);
  return locked && !*locked;
}

// Calls `see(path, pid)` for each file that is named like a page. Not a range-based loop, whose increment throws on a
// failure of the disk.
template <typename See>
std::error_code for_each_page(const std::string& directory, See see) {
  std::error_code failure;
  for (std::filesystem::directory_iterator entry(directory, failure), end; !failure && entry != end;
       entry.increment(failure))
    if (const std::int32_t pid = pid_of(entry->path().filename().string())) see(entry->path().string(), pid);
  return failure;
}

// Creates the file under the first of this process's names that no living process uses.
Expected<std::pair<std::string, os::Fd>> make_file(const std::string& directory) {
  const std::string start = directory + "/" + std::string(prefix) + std::to_string(::getpid());
  for (int i = 0; i < most_namesakes; ++i) {
    std::string path = i == 0 ? start : start + "." + std::to_string(i);
    if (!remove_stale_page(path)) continue;
    os::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file && errno != EEXIST) return not_stored;
    if (!file) continue;
    const auto locked = os::try_lock(file);
    if (locked && *locked && os::is_at(file, path.c_str())) return std::pair{std::move(path), std::move(file)};
  }
  return not_stored;
}

}  // namespace

Expected<std::unique_ptr<CounterPage>> CounterPage::make(const std::string& directory, std::size_t cores,
                                                         std::size_t tasks) {
  auto file = make_file(directory);
  if (!file) return file.error();
  std::unique_ptr<CounterPage> page(
      new CounterPage(std::move(file->first), std::move(file->second), words_for(cores, tasks), cores, tasks));
  const auto size = static_cast<off_t>(page->words_.size() * sizeof(std::uint64_t));
  if (!os::take_room(page->file_.file(), 0, size)) return not_stored;
  return page;
}

CounterPage::CounterPage(std::string path, os::Fd file, std::size_t words, std::size_t cores, std::size_t tasks)
    : file_(std::move(path), std::move(file)), cores_(cores), tasks_(tasks), words_(words) {}

bool CounterPage::is_at_path() const noexcept { return file_.is_there(); }

void CounterPage::write(const ProcessCounters& counters) noexcept {
  std::uint64_t& sequence = words_[sequence_word];
  ++sequence;
  fill(counters);
  // Three writes: a reader that finds the sequence odd, or changed when it is done, reads again.
  put(std::span(words_).subspan(sequence_word, 1), sequence_word);
  put(words_, 0);
  ++sequence;
  put(std::span(words_).subspan(sequence_word, 1), sequence_word);
}

void CounterPage::put(std::span<const std::uint64_t> words, std::size_t at) noexcept {
  const os::SizeLimitGuard guard;
  (void)!::pwrite(file_.file().get(), words.data(), words.size_bytes(), static_cast<off_t>(at * sizeof(std::uint64_t)));
}

void CounterPage::fill(const ProcessCounters& counters) noexcept {
  const std::size_t cores = std::min(cores_, counters.cores.size());
  const std::size_t tasks = std::min(tasks_, counters.tasks.size());
  const std::size_t refusals = std::min(RefusalLog::most, counters.refusals.size());
  Pen(words_)
      .put(magic)
      .put(page_version)
      .put(words_.size() * sizeof(std::uint64_t))
      .put(counters.pid)
      .put(counters.start_ticks);
  const std::span<std::uint64_t> words(words_);
  Pen pen(words.subspan(sequence_word + 1));
  pen.put(counters.written.time_since_epoch().count());
  pen.put(counters.admitted).put(counters.refused).put(counters.jobs_refused).put(counters.best_effort_jobs);
  pen.put(counters.pid_namespace);
  pen.put(cores)
      .put(tasks)
      .put(tasks_)
      .put(counters.conditions.guarantee)
      .put(refusals)
      .put(RefusalLog::most)
      .put(counters.queue_full)
      .put(bits_of(counters.conditions));
  pen.text(counters.program, header_words - name_word);
  std::span<std::uint64_t> rest = words.subspan(header_words);
  for (std::size_t i = 0; i < cores; ++i, rest = rest.subspan(core_words)) write_core(rest, counters.cores[i]);
  for (std::size_t i = 0; i < tasks; ++i, rest = rest.subspan(task_words)) write_task(rest, counters.tasks[i]);
  for (std::size_t i = 0; i < refusals; ++i, rest = rest.subspan(refusal_words))
    write_refusal(rest, counters.refusals[i]);
}

std::optional<ProcessCounters> read_page(std::span<const std::uint64_t> words) {
  if (words.size() < header_words || words[sequence_word] % 2 == 1) return std::nullopt;
  return read_words(words);
}

std::vector<ProcessCounters> read_pages(const std::string& directory) {
  std::vector<ProcessCounters> pages;
  for_each_page(directory, [&](const std::string& path, std::int32_t pid) {
    auto page = read_file(path);
    if (!page || page->pid != pid || page->pid_namespace != os::this_host().pid_namespace) return;
    if (os::is_alive({.pid = pid, .start_ticks = page->start_ticks})) pages.push_back(std::move(*page));
  });
  std::ranges::sort(pages, {}, &ProcessCounters::pid);
  return pages;
}

// The owner watches the directory, and notices that a descriptor that could write its page is closed.
void ask_for_pages(const std::string& directory) {
  for_each_page(directory, [](const std::string& path, std::int32_t) { (void)open_page(path, O_RDWR); });
}

std::vector<std::int32_t> page_owners(const std::string& directory, std::error_code& failure) {
  std::vector<std::int32_t> pids;
  failure = for_each_page(directory, [&](const std::string&, std::int32_t pid) { pids.push_back(pid); });
  std::ranges::sort(pids);
  return pids;
}

bool is_stale_page(const std::string& path) noexcept { return is_stale(open_page(path, O_RDONLY)); }

// Opens the page for writing, as its lock requires, only if it is stale. Otherwise this would ask its owner to write
// it.
bool remove_stale_page(const std::string& path) noexcept {
  const os::Fd seen = open_page(path, O_RDONLY);
  if (!seen) return errno == ENOENT;
  if (!is_stale(seen)) return false;
  const os::Fd file = open_page(path, O_RDWR);
  if (!file) return errno == ENOENT;
  const auto locked = os::try_lock(file);
  return locked && *locked && is_page(file) && os::is_at(file, path.c_str()) && ::unlink(path.c_str()) == 0;
}

void remove_stale_pages(const std::string& directory) {
  for_each_page(directory, [](const std::string& path, std::int32_t) { (void)remove_stale_page(path); });
}

}  // namespace corelane::dispatch
