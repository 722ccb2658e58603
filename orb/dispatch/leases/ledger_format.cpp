#include "orb/dispatch/leases/ledger_format.h"

#include <bit>
#include <cstring>

namespace corelane::dispatch::ledger {
namespace {

template <typename T>
T load(Bytes bytes, std::size_t at = 0) noexcept {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

constexpr std::uint64_t first_sum = 0xcbf2'9ce4'8422'2325;
constexpr std::uint64_t factor = 0x0000'0100'0000'01b3;

// FNV-1a. It finds parts that were torn or overwritten. It does not defend against an attacker, who could write a right
// sum, too. The sum of a file's header is the same in all versions of the format.
std::uint64_t sum_of(Bytes bytes) noexcept {
  std::uint64_t sum = first_sum;
  for (const std::byte b : bytes) sum = (sum ^ static_cast<std::uint8_t>(b)) * factor;
  return sum;
}

// Does the same by words, since slots are summed at each admission decision. The size must be a multiple of a word. The
// rotation brings the high bits of each word to where the multiplication spreads them.
std::uint64_t sum_of_words(Bytes bytes, std::uint64_t sum = first_sum) noexcept {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof sum)
    sum = std::rotl(sum ^ load<std::uint64_t>(bytes, at), 31) * factor;
  return sum;
}
static_assert(sizeof(SlotHeader) % 8 == 0 && sizeof(Entry) % 8 == 0);

template <typename T>
Bytes bytes_of(const T& value) noexcept {
  return std::as_bytes(std::span{&value, 1});
}

std::uint64_t checksum_of(FileHeader header) noexcept {
  header.checksum = 0;
  return sum_of(bytes_of(header));
}

std::uint64_t checksum_of(SlotHeader header, Bytes entries) noexcept {
  header.checksum = 0;
  return sum_of_words(entries, sum_of_words(bytes_of(header)));
}

Entry entry_of(const Promise& promise) noexcept {
  const Contract& c = promise.contract;
  return {.core = promise.core.value,
          .physical_core = promise.physical_core,
          .period = c.period.count(),
          .deadline = c.deadline.count(),
          .budget = c.budget.count(),
          .jitter = c.jitter.count(),
          .suspension = c.suspension.count(),
          .blocking = promise.blocking.count(),
          .levels = promise.levels,
          .kind = static_cast<std::uint32_t>(promise.kind)};
}

}  // namespace

FileHeader make_header(std::uint32_t format) noexcept {
  FileHeader header{.version = format};
  header.checksum = checksum_of(header);
  return header;
}

bool is_sound(const FileHeader& header) noexcept {
  return header.magic == file_magic && header.version == version && header.slots == slot_count &&
         header.slot_bytes == slot_size && header.checksum == checksum_of(header);
}

bool is_other_version(const FileHeader& header) noexcept {
  return header.magic == file_magic && header.version != version && header.checksum == checksum_of(header);
}

std::optional<std::size_t> write_slot(std::span<const Promise> promises, std::int32_t pid, MutableBytes out) noexcept {
  if (promises.size() > max_entries || out.size() < slot_bytes(promises.size())) return std::nullopt;
  const std::size_t size = slot_bytes(promises.size());
  std::memset(out.data(), 0, size);
  for (std::size_t i = 0; i < promises.size(); ++i) {
    const Entry entry = entry_of(promises[i]);
    std::memcpy(out.data() + slot_bytes(i), &entry, sizeof entry);
  }
  SlotHeader header{.entries = static_cast<std::uint32_t>(promises.size()), .pid = pid};
  header.checksum = checksum_of(header, out.first(size).subspan(entries_offset));
  std::memcpy(out.data(), &header, sizeof header);
  return size;
}

std::optional<std::size_t> entries_of(Bytes head) noexcept {
  const auto header = load<SlotHeader>(head);
  if (header.magic != slot_magic || header.entries > max_entries) return std::nullopt;
  return header.entries;
}

std::uint64_t checksum_in(Bytes head) noexcept { return load<SlotHeader>(head).checksum; }

std::int32_t pid_in(Bytes head) noexcept { return load<SlotHeader>(head).pid; }

bool is_sound(Bytes slot) noexcept {
  const auto header = load<SlotHeader>(slot);
  if (header.checksum != checksum_of(header, slot.subspan(entries_offset))) return false;
  for (std::size_t i = 0; i < header.entries; ++i)
    if (!dispatch::is_sound(promise_at(slot, i))) return false;
  return true;
}

Promise promise_at(Bytes slot, std::size_t i) noexcept {
  const auto entry = load<Entry>(slot, slot_bytes(i));
  return {.core = CoreId{static_cast<std::int16_t>(entry.core)},
          .physical_core = entry.physical_core,
          .contract = {.period = Duration{entry.period},
                       .deadline = Duration{entry.deadline},
                       .budget = Duration{entry.budget},
                       .jitter = Duration{entry.jitter},
                       .suspension = Duration{entry.suspension}},
          .kind = entry.kind <= 1 ? static_cast<PromiseKind>(entry.kind) : PromiseKind{0xff},
          .blocking = Duration{entry.blocking},
          .levels = entry.levels};
}

}  // namespace corelane::dispatch::ledger
