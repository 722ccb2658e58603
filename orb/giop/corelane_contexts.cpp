#include "orb/giop/corelane_contexts.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <limits>

#include "orb/base/minor.h"
#include "orb/cdr/reader.h"

namespace corelane::giop {
namespace {

using cdr::Reader;

constexpr std::uint8_t layout_version = 1;
constexpr std::uint8_t version_with_uses = 2;
constexpr std::uint8_t version_with_intensity = 3;  // of a contract
constexpr std::uint8_t version_with_others = 2;     // of a refusal
constexpr std::uint8_t version_with_jitter = 3;     // of a refusal
constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint8_t overrun_mask = 3;
constexpr std::size_t longest_detail = 4000;

// Layout builds an encapsulation in native byte order whose fields have fixed positions.
template <std::size_t size>
class Layout {
 public:
  Layout() { bytes_[0] = static_cast<std::byte>(native_order); }
  template <typename T>
  Layout& put(std::size_t at, T value) {
    std::memcpy(&bytes_[at], &value, sizeof value);
    return *this;
  }
  Layout& put(std::size_t at, Duration value) {
    const auto count = static_cast<std::uint64_t>(std::max(value, Duration::zero()).count());
    return put(at, value == Duration::max() ? unbounded : count);
  }
  std::array<std::byte, size> bytes() const { return bytes_; }

 private:
  std::array<std::byte, size> bytes_{};
};

bool take_time(Reader& reader, std::uint64_t count, Duration& out) noexcept {
  constexpr auto most = static_cast<std::uint64_t>(Duration::max().count());
  if (count > most && count != unbounded) return reader.fail(minor::bad_encapsulation);
  out = Duration{static_cast<std::int64_t>(std::min(count, most))};
  return true;
}

bool read_time(Reader& reader, Duration& out) noexcept {
  std::uint64_t count = 0;
  return reader.read(count) && take_time(reader, count, out);
}

// Later versions only append fields.
bool read_version(Reader& reader, std::uint8_t& version) noexcept {
  return reader.read(version) && (version >= layout_version || reader.fail(minor::bad_encapsulation));
}
bool read_version(Reader& reader) noexcept {
  std::uint8_t version = 0;
  return read_version(reader, version);
}

// Reads the fields from the task to the policies. The first seven are read as one block.
bool read_task(Reader& reader, ContractContext& context, Contract& c) noexcept {
  std::array<std::uint64_t, 7> words;
  if (!reader.read_block(words.data(), words.size())) return false;
  context.task.value = words[0];
  context.job.value = words[1];
  Duration* const times[] = {&c.period, &c.deadline, &c.budget, &c.jitter, &c.suspension};
  for (std::size_t i = 0; i < std::size(times); ++i)
    if (!take_time(reader, words[2 + i], *times[i])) return false;
  std::uint8_t policies = 0;
  if (!reader.read(c.importance) || !reader.read(policies)) return false;
  const std::uint8_t overrun = policies & overrun_mask;
  if (overrun > static_cast<std::uint8_t>(OverrunPolicy::cancel)) return reader.fail(minor::bad_enum);
  c.on_overrun = static_cast<OverrunPolicy>(overrun);
  return true;
}

bool read_uses(Reader& reader, std::uint8_t version, Contract& c) noexcept {
  std::uint32_t count = 0;
  if (!reader.read(count)) return false;
  if (count > c.uses.size()) return reader.fail(minor::too_many_items);
  if (version >= version_with_intensity && !reader.read(c.intensity)) return false;
  for (std::uint32_t i = 0; i < count; ++i)  // bound: max_uses
    if (!read_time(reader, c.uses[i].longest) || !reader.read(c.uses[i].resource.value)) return false;
  return true;
}

// Takes one code point from the front of UTF-8 text. One malformed byte becomes U+FFFD.
char32_t next_code_point(std::string_view& text) noexcept {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = at(0);
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  char32_t value = size <= 1 ? lead : lead & (0xffu >> (size + 1));
  bool good = size != 0;
  for (std::size_t i = 1; i < size; ++i) {
    good = good && (at(i) & 0xc0) == 0x80;
    value = value << 6 | (at(i) & 0x3f);
  }
  const bool shortest = size < 3 || value >= (size == 3 ? 0x800u : 0x10000u);
  good = good && shortest && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
  text.remove_prefix(good ? size : 1);
  return good ? value : U'\ufffd';
}

void append_utf8(std::string& text, char32_t c) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xc0 | c >> 6), tail(0);
  } else if (c < 0x10000) {
    text += static_cast<char>(0xe0 | c >> 12), tail(6), tail(0);
  } else {
    text += static_cast<char>(0xf0 | c >> 18), tail(12), tail(6), tail(0);
  }
}

void append_unit(std::vector<std::byte>& bytes, char32_t unit) {
  bytes.push_back(static_cast<std::byte>(unit >> 8));
  bytes.push_back(static_cast<std::byte>(unit & 0xff));
}

void append_utf16(std::vector<std::byte>& bytes, char32_t c) {
  if (c < 0x10000) return append_unit(bytes, c);
  append_unit(bytes, 0xd7c0 + (c >> 10));
  append_unit(bytes, 0xdc00 + (c & 0x3ff));
}

// Converts UTF-16 with or without a byte-order mark; without one it is big endian.
std::string utf8_of_utf16(Bytes bytes) {
  bool little = false;
  const auto unit_at = [&](std::size_t i) {
    const auto a = std::to_integer<char32_t>(bytes[i]);
    const auto b = std::to_integer<char32_t>(bytes[i + 1]);
    return little ? b << 8 | a : a << 8 | b;
  };
  std::size_t i = 0;
  if (bytes.size() >= 2 && (unit_at(0) == 0xfeff || unit_at(0) == 0xfffe)) {
    little = unit_at(0) == 0xfffe;
    i = 2;
  }
  std::string text;
  for (; i + 1 < bytes.size(); i += 2) {
    char32_t c = unit_at(i);
    const char32_t low = i + 3 < bytes.size() ? unit_at(i + 2) : 0;
    if (c >= 0xd800 && c < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
      c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
      i += 2;
    } else if (c >= 0xd800 && c < 0xe000) {
      c = U'\ufffd';
    }
    append_utf8(text, c);
  }
  return text;
}

}  // namespace

ContractBytes::ContractBytes(const ContractContext& context) noexcept {
  const Contract c = context.contract.value_or(Contract{});
  Layout<most> layout;
  layout.put(1, layout_version)
      .put(8, context.task.value)
      .put(contract_job_at, context.job.value)
      .put(24, c.period)
      .put(32, c.deadline)
      .put(40, c.budget)
      .put(48, c.jitter)
      .put(56, c.suspension)
      .put(64, c.importance)
      .put(66, static_cast<std::uint8_t>(c.on_overrun))
      .put(72, context.time_left);
  size_ = bare;
  std::uint32_t count = 0;
  for (const ResourceUse& use : c.uses) {  // bound: max_uses
    if (use.resource == no_resource) continue;
    const std::size_t at = 88 + 16 * count++;
    layout.put(at, use.longest).put(at + 8, use.resource.value);
    size_ = at + 16;
  }
  if (count > 0) layout.put(1, version_with_uses).put(80, count);
  if (c.intensity > 0) {
    layout.put(1, version_with_intensity).put(84, c.intensity);
    size_ = std::max(size_, std::size_t{88});
  }
  bytes_ = layout.bytes();
}

Expected<void> decode_contract(Bytes bytes, ContractContext& context) noexcept {
  Reader reader = Reader::of_encapsulation(bytes);
  Contract& contract = context.contract.emplace();
  std::uint8_t version = 0;
  if (read_version(reader, version) && read_task(reader, context, contract) && read_time(reader, context.time_left) &&
      version >= version_with_uses)
    read_uses(reader, version, contract);
  if (!reader.ok()) return reader.error();
  if (contract.period == Duration::zero()) context.contract.reset();
  return {};
}

Expected<ContractContext> decode_contract(Bytes bytes) noexcept {
  ContractContext context;
  if (const auto done = decode_contract(bytes, context); !done) return done.error();
  return context;
}

std::array<std::byte, refusal_size> encode_refusal(const RefusalContext& context) noexcept {
  return Layout<refusal_size>()
      .put(1, version_with_jitter)
      .put(4, context.reason)
      .put(8, context.closest.value)
      .put(16, context.response)
      .put(24, context.deadline)
      .put(32, context.nearest_period)
      .put(40, context.nearest_deadline)
      .put(48, context.nearest_budget)
      .put(56, context.others)
      .put(64, context.nearest_jitter)
      .put(72, context.nearest_suspension)
      .bytes();
}

Expected<RefusalContext> decode_refusal(Bytes bytes) noexcept {
  Reader reader = Reader::of_encapsulation(bytes);
  RefusalContext context;
  std::uint8_t version = 0;
  if (read_version(reader, version) && reader.read(context.reason) && reader.read(context.closest.value) &&
      read_time(reader, context.response) && read_time(reader, context.deadline) &&
      read_time(reader, context.nearest_period) && read_time(reader, context.nearest_deadline) &&
      read_time(reader, context.nearest_budget) && version >= version_with_others && reader.read(context.others) &&
      version >= version_with_jitter && read_time(reader, context.nearest_jitter))
    read_time(reader, context.nearest_suspension);
  if (!reader.ok()) return reader.error();
  return context;
}

ChainBytes::ChainBytes(const ChainContext& context) noexcept : size_(8 + 8 * std::size_t{context.count}) {
  std::memset(bytes_.data(), 0, 8);
  bytes_[0] = static_cast<std::byte>(native_order);
  bytes_[1] = std::byte{layout_version};
  std::memcpy(&bytes_[4], &context.count, sizeof context.count);
  std::memcpy(&bytes_[8], context.waits.data(), 8 * std::size_t{context.count});
}

Expected<ChainContext> decode_chain(Bytes bytes) noexcept {
  Reader reader = Reader::of_encapsulation(bytes);
  ChainContext context;
  std::uint32_t count = 0;
  if (read_version(reader) && reader.read(count) && (count == 0 || count > ChainContext::most))
    reader.fail(minor::too_many_items);
  while (reader.ok() && context.count < count)  // bound: ChainContext::most
    if (std::uint64_t wait = 0; reader.read(wait)) context.push(wait);
  if (!reader.ok()) return reader.error();
  return context;
}

std::array<std::byte, 2> encode_orb() noexcept {
  return {static_cast<std::byte>(native_order), std::byte{1}};  // byte order, version
}

std::array<std::byte, 4> encode_rt_priority(std::int16_t priority) noexcept {
  return Layout<4>().put(2, priority).bytes();
}

Expected<std::int16_t> decode_rt_priority(Bytes bytes) noexcept {
  Reader reader = Reader::of_encapsulation(bytes);
  std::int16_t priority = 0;
  if (!reader.read(priority)) return reader.error();
  return priority;
}

std::vector<std::byte> encode_detail(std::string_view text) {
  text = text.substr(0, longest_detail);
  std::vector<std::byte> bytes(8);
  bytes[0] = static_cast<std::byte>(native_order);
  while (!text.empty()) append_utf16(bytes, next_code_point(text));  // bound: longest_detail
  const auto length = static_cast<std::uint32_t>(bytes.size() - 8);
  std::memcpy(&bytes[4], &length, sizeof length);
  return bytes;
}

Expected<std::string> decode_detail(Bytes bytes) {
  Reader reader = Reader::of_encapsulation(bytes);
  Bytes units;
  if (!reader.read_octets(units)) return reader.error();
  return utf8_of_utf16(units);
}

}  // namespace corelane::giop
