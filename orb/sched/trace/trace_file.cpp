#include "orb/sched/trace/trace_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "orb/base/registry.h"
#include "orb/base/text/one_line.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"

namespace corelane::sched {
namespace {

constexpr std::uint64_t magic = 0x45'4e'41'4c'45'52'4f'43;  // "CORELANE"
constexpr std::size_t header_words = 22;
constexpr std::size_t core_words = 8;
constexpr std::size_t track_words = 6;
constexpr std::size_t word_size = sizeof(std::uint64_t);

// Limits beyond the values of any real run. They prevent a damaged file from sizing our tables.
constexpr std::uint64_t max_cores = 4096;
constexpr std::uint64_t max_tasks = 100'000;
constexpr std::uint64_t max_slots = 1u << 24;  // cores x tasks per core
constexpr std::uint64_t max_program = 4096;
constexpr std::uint64_t max_name = 64;  // of what a registry lists

TraceFault fault(std::string text) { return {std::move(text)}; }

constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? value >> 1 ^ 0x82f6'3b78 : value >> 1;
    table[i] = value;
  }
  return table;
}();

// Writes words in the byte order of the file, which does not depend on the machine.
class Output {
 public:
  void word(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<std::byte>(value >> shift & 0xff));
  }
  void word(Duration value) { word(static_cast<std::uint64_t>(value.count())); }
  void text(std::string_view text) {
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    while (bytes_.size() % word_size != 0) bytes_.push_back({});
  }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

void put(std::vector<std::byte>& bytes, std::size_t word, std::uint64_t value) {
  for (std::size_t i = 0; i < word_size; ++i)
    bytes[word * word_size + i] = static_cast<std::byte>(value >> 8 * i & 0xff);
}

void write_header(Output& out, const TraceFile& trace) {
  // The binding names all members, so a new option does not compile until this function is changed. Give the option a
  // word and give trace_version the next number.
  const auto& [cores, max_tasks_in_all, max_tasks_per_core, levels, repack, test, allocation, enforces_budgets,
               charge_overruns, peer_limit, spares_own_user, peer_urgency, peer_tasks] = trace.options;
  const std::string name = trace.program.substr(0, max_program);
  out.word(magic), out.word(trace_version), out.word(std::uint64_t{0});
  out.word(static_cast<std::uint64_t>(trace.pid)), out.word(trace.start_ticks);
  out.word(trace.dumped_at.time_since_epoch()), out.word(trace.dumped_boot_time), out.word(trace.dumped_real_time);
  out.word(std::uint64_t{0}), out.word(static_cast<std::uint64_t>(trace.reason));
  out.word(name.size()), out.word(cores.size()), out.word(trace.tracks.size());
  out.word((repack ? 1u : 0u) | (enforces_budgets ? 2u : 0u) | (charge_overruns ? 4u : 0u) |
           (spares_own_user ? 8u : 0u));
  out.word(max_tasks_in_all), out.word(max_tasks_per_core), out.word(static_cast<std::uint64_t>(levels));
  out.word(static_cast<std::uint64_t>(peer_limit)), out.word(peer_urgency), out.word(peer_tasks);
  out.word(allocation->name.size()), out.word(test->name.size());
  out.text(name), out.text(allocation->name), out.text(test->name);
}

// Reads words in order. Past the end it returns zeros, and ok() returns false.
class Input {
 public:
  explicit Input(Bytes bytes) : bytes_(bytes) {}

  std::uint64_t word() {
    if (left() < 1) return ended_ = true, 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < word_size; ++i)
      value |= static_cast<std::uint64_t>(std::to_integer<std::uint8_t>(bytes_[at_ + i])) << 8 * i;
    at_ += word_size;
    return value;
  }
  std::string text(std::size_t size) {
    const std::size_t room = (size + word_size - 1) / word_size;
    if (left() < room) return ended_ = true, std::string{};
    std::string text(reinterpret_cast<const char*>(bytes_.data() + at_), size);
    at_ += room * word_size;
    return text;
  }
  // Reads a time or a duration. A value out of range counts as damage.
  Duration duration() {
    const auto value = static_cast<std::int64_t>(word());
    if (value <= -trace::longest_time || value >= trace::longest_time) damaged_ = true;
    return damaged_ ? Duration{} : Duration{value};
  }
  std::uint64_t number(std::uint64_t most) {
    const std::uint64_t value = word();
    if (value > most) damaged_ = true;
    return damaged_ ? 0 : value;
  }
  std::size_t left() const { return (bytes_.size() - at_) / word_size; }
  std::size_t place() const { return at_; }
  bool ok() const { return !ended_ && !damaged_; }

 private:
  const Bytes bytes_;
  std::size_t at_ = 0;
  bool ended_ = false;
  bool damaged_ = false;
};

struct Counts {
  std::uint64_t cores = 0;
  std::uint64_t tracks = 0;
};

// Finds what a trace names in a registry. Returns what is wrong, or an empty text.
template <typename Entry>
std::string find_recorded(const Entry*& found, Registry<Entry> registry, const std::string& name, const char* what) {
  found = find_named(registry, name);
  if (found != nullptr) return {};
  return std::string("recorded with the ") + what + " '" + as_one_line(name) + "', which this program does not have (" +
         names_of(registry) + "): read it with the program that wrote it";
}

// Returns what is wrong, or an empty text. Ranges are checked by in.ok().
std::string read_header(Input& in, TraceFile& trace, Counts& counts) {
  for (int skipped = 0; skipped < 3; ++skipped) (void)in.word();
  trace.pid = static_cast<std::int32_t>(in.number(INT32_MAX));
  trace.start_ticks = in.word();
  trace.dumped_at = Time{in.duration()};
  trace.dumped_boot_time = in.duration();
  trace.dumped_real_time = Duration{static_cast<std::int64_t>(in.word())};
  (void)in.word();
  trace.reason = static_cast<TraceReason>(in.word());
  const std::uint64_t name = in.number(max_program);
  counts = {.cores = in.number(max_cores), .tracks = in.number(max_cores + 1)};
  ManagerOptions& options = trace.options;
  const std::uint64_t flags = in.word();
  options.repack = flags & 1;
  options.enforces_budgets = flags & 2;
  options.charge_overruns = flags & 4;
  options.spares_own_user = flags & 8;
  options.max_tasks = in.number(max_tasks);
  options.max_tasks_per_core = in.number(max_tasks);
  options.levels = static_cast<int>(in.number(10'000));
  options.peer_limit = static_cast<Ppm>(in.number(max_cores * static_cast<std::uint64_t>(whole_core)));
  options.peer_urgency = in.duration();
  options.peer_tasks = in.number(max_tasks);
  const std::uint64_t strategy = in.number(max_name), admission_test = in.number(max_name);
  trace.program = in.text(name);
  const std::string allocation = in.text(strategy), test = in.text(admission_test);
  if (!in.ok() || name_of(trace.reason).empty()) return "damaged: its header holds impossible values";
  std::string wrong = find_recorded(options.allocation, allocation_strategies(), allocation, "allocation strategy");
  return !wrong.empty() ? wrong : find_recorded(options.test, admission_tests(), test, "admission test");
}

bool is_sound(const PlatformLoad& load) {
  const auto within = [](Duration d) { return d >= Duration::zero() && d <= longest_period; };
  return within(load.budget) && within(load.period) && within(load.jitter) && within(load.blocking);
}

bool read_core(Input& in, CoreOptions& core) {
  core.id.value = static_cast<std::int16_t>(in.number(INT16_MAX));
  core.capacity = static_cast<Ppm>(in.number(static_cast<std::uint64_t>(whole_core)));
  PlatformLoad& load = core.load;
  load.budget = in.duration(), load.period = in.duration(), load.jitter = in.duration(), load.blocking = in.duration();
  core.order = static_cast<CoreOrder>(in.number(2));
  core.cache = static_cast<int>(in.number(INT32_MAX));
  return in.ok() && is_sound(load);
}

// Returns the index of the word at which the first invalid record begins, or the number of words if all records are
// valid.
std::size_t first_fault(const std::vector<std::uint64_t>& words) {
  std::size_t at = 0;
  while (at < words.size()) {
    const auto record = first_record(std::span(words).subspan(at));
    if (!record || name_of(record->kind).empty()) return at;
    at += record->words.size();
  }
  return words.size();
}

std::string read_track(Input& in, Track& track) {
  const std::size_t begin = in.place();
  const std::uint64_t kind = in.word();
  const auto core = static_cast<std::int64_t>(in.word());
  track.kind = static_cast<TrackKind>(kind);
  track.core.value = static_cast<std::int16_t>(core);
  track.max_tasks = in.number(max_tasks);
  track.timer.value = in.word();
  track.lost = in.word();
  const std::uint64_t words = in.word();
  if (!in.ok() || (kind != 1 && kind != 2) || track.core.value != core)
    return "the track at byte " + std::to_string(begin) + " has an impossible header";
  if (words > in.left()) return "the track at byte " + std::to_string(begin) + " is longer than the file";
  const std::size_t records = in.place();
  track.words.reserve(words);
  for (std::uint64_t i = 0; i < words; ++i) track.words.push_back(in.word());  // bound: the file
  const std::size_t wrong = first_fault(track.words);
  if (wrong == track.words.size()) return {};
  return "the record at byte " + std::to_string(records + wrong * word_size) + " is none that this version knows";
}

// Makes the checks that need no valid content: magic number, version, length and checksum. Returns the fault, or an
// empty text.
std::string fault_of_whole(Bytes bytes) {
  Input in(bytes);
  const bool ours = in.word() == magic;
  if (!ours) return "not a Corelane trace: it does not begin with CORELANE";
  const std::uint64_t version = in.word(), words = in.word();
  if (version != trace_version)
    return "a trace of format version " + std::to_string(version) + "; this program reads version " +
           std::to_string(trace_version);
  if (bytes.size() < header_words * word_size || words > bytes.size() / word_size)
    return "cut off: " + std::to_string(bytes.size()) + " bytes are there, " + std::to_string(words * word_size) +
           " were written; was the disk full, or the copy broken off?";
  if (bytes.size() != words * word_size)
    return "too long: " + std::to_string(bytes.size()) + " bytes where " + std::to_string(words * word_size) +
           " were written";
  Input checked(bytes.subspan(8 * word_size));
  if (checked.word() != crc32c(bytes.subspan(9 * word_size))) return "damaged: its checksum is wrong";
  return {};
}

std::string read_body(Input& in, TraceFile& trace, const Counts& counts) {
  if (counts.cores * core_words > in.left()) return "damaged: it names more cores than it holds";
  if (std::max<std::uint64_t>(counts.cores, 1) * trace.options.max_tasks_per_core > max_slots)
    return "damaged: more tasks on more cores than any run has";
  trace.options.cores.resize(counts.cores);
  for (CoreOptions& core : trace.options.cores)
    if (!read_core(in, core)) return "damaged: a core's options are impossible";
  if (counts.tracks * track_words > in.left()) return "damaged: it names more tracks than it holds";
  trace.tracks.resize(counts.tracks);
  for (Track& track : trace.tracks)
    if (std::string wrong = read_track(in, track); !wrong.empty()) return "damaged: " + wrong;
  if (in.left() > 0) return "damaged: something follows its last track";
  return {};
}

}  // namespace

std::string_view name_of(TraceReason reason) noexcept {
  switch (reason) {
    case TraceReason::request:
      return "request";
    case TraceReason::miss:
      return "miss";
    case TraceReason::exit:
      return "exit";
  }
  return {};
}

std::uint32_t crc32c(Bytes bytes) noexcept {
  std::uint32_t value = 0xffff'ffff;
  for (const std::byte byte : bytes)
    value = crc_table[(value ^ std::to_integer<std::uint32_t>(byte)) & 0xff] ^ value >> 8;
  return ~value;
}

std::vector<std::byte> to_bytes(const TraceFile& trace) {
  Output out;
  write_header(out, trace);
  for (const CoreOptions& core : trace.options.cores) {
    out.word(static_cast<std::uint64_t>(core.id.value)), out.word(static_cast<std::uint64_t>(core.capacity));
    out.word(core.load.budget), out.word(core.load.period), out.word(core.load.jitter), out.word(core.load.blocking);
    out.word(static_cast<std::uint64_t>(core.order)), out.word(static_cast<std::uint64_t>(core.cache));
  }
  for (const Track& track : trace.tracks) {
    out.word(static_cast<std::uint64_t>(track.kind));
    out.word(static_cast<std::uint64_t>(static_cast<std::int64_t>(track.core.value)));
    out.word(track.max_tasks), out.word(track.timer.value), out.word(track.lost), out.word(track.words.size());
    for (const std::uint64_t word : track.words) out.word(word);
  }
  std::vector<std::byte> bytes = std::move(out.bytes());
  put(bytes, 2, bytes.size() / word_size);
  put(bytes, 8, crc32c(Bytes(bytes).subspan(9 * word_size)));
  return bytes;
}

Expected<TraceFile, TraceFault> parse_trace(Bytes bytes) {
  if (std::string wrong = fault_of_whole(bytes); !wrong.empty()) return fault(std::move(wrong));
  TraceFile trace;
  Counts counts;
  Input in(bytes);
  if (std::string wrong = read_header(in, trace, counts); !wrong.empty()) return fault(std::move(wrong));
  if (std::string wrong = read_body(in, trace, counts); !wrong.empty()) return fault(std::move(wrong));
  return trace;
}

std::vector<TraceView> records_of(const Track& track) {
  std::vector<TraceView> records;
  std::span<const std::uint64_t> left = track.words;
  while (auto record = first_record(left)) {
    records.push_back(*record);
    left = left.subspan(record->words.size());
  }
  return records;
}

}  // namespace corelane::sched
