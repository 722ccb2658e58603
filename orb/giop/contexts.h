// Service contexts are tagged values of a request or reply. This header has the ids that Corelane knows, and lists of
// contexts as they are in a message. CORBA 3.3 part 2, 9.8; docs/wire.md has the registry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "orb/base/bytes.h"
#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"
#include "orb/giop/limits.h"

namespace corelane::giop {

namespace context {
inline constexpr std::uint32_t code_sets = 1;
inline constexpr std::uint32_t rt_priority = 10;        // RTCorbaPriority
inline constexpr std::uint32_t rt_priority_range = 11;  // RTCorbaPriorityRange
inline constexpr std::uint32_t exception_detail = 14;   // ExceptionDetailMessage
inline constexpr std::uint32_t contract = 0x434C4E01;   // ours: contract and task
inline constexpr std::uint32_t refusal = 0x434C4E02;    // ours: why a task was refused
inline constexpr std::uint32_t chain = 0x434C4E03;      // ours: the chain of nested calls
inline constexpr std::uint32_t orb = 0x434C4E04;        // ours: asks whether the other end is this ORB, too
inline constexpr std::uint32_t deadline = 0x434C4E05;   // ours: how long the client waits (orb/core/hooks/deadline.cpp)
}  // namespace context

// `data` is the content of the context: an encapsulation for all of the ids above. It is a view.
struct ServiceContext {
  std::uint32_t id = 0;
  Bytes data;
};

// ContextList is the contexts of a received message. They lie in the message, and were checked when its header was
// read.
class ContextList {
 public:
  ContextList() = default;

  // Reads the sequence at the reader's position. Refuses more than limits.contexts.
  [[gnu::hot, gnu::flatten]] static bool read(cdr::Reader& reader, const Limits& limits, ContextList& out) noexcept {
    std::uint32_t count = 0;
    if (!reader.read_length(count, smallest)) return false;
    out.count_ = count;
    return count == 0 || read_items(reader, limits, out);
  }

  std::uint32_t size() const noexcept { return count_; }
  // Returns the content of the first context with this id.
  std::optional<Bytes> find(std::uint32_t id) const noexcept { return count_ == 0 ? std::nullopt : search(id); }
  // Calls visit(ServiceContext) for each, in order.
  template <typename Visit>
  void each(Visit&& visit) const {
    cdr::Reader reader = items();
    ServiceContext item;
    for (std::uint32_t i = 0; i < count_; ++i) {  // bound: limits.contexts
      if (!next(reader, item)) return;
      visit(item);
    }
  }

 private:
  static constexpr std::size_t smallest = 8;  // id and length of a context

  [[gnu::noinline]] static bool read_items(cdr::Reader& reader, const Limits& limits, ContextList& out) noexcept;
  static bool next(cdr::Reader& reader, ServiceContext& item) noexcept;
  std::optional<Bytes> search(std::uint32_t id) const noexcept;

  // Returns a reader at the first item.
  cdr::Reader items() const noexcept { return cdr::Reader(items_, order_, offset_); }

  // From the first item on. Bytes instead of a Reader, because copying a Reader is slow.
  Bytes items_;
  std::size_t offset_ = 0;  // of the first item, counted from the origin of alignment
  std::uint32_t count_ = 0;
  ByteOrder order_ = native_order;
};

inline std::optional<Bytes> find_context(const ContextList& list, std::uint32_t id) noexcept { return list.find(id); }
std::optional<Bytes> find_context(std::span<const ServiceContext> list, std::uint32_t id) noexcept;

void write_contexts(cdr::Writer& writer, std::span<const ServiceContext> contexts);

}  // namespace corelane::giop
