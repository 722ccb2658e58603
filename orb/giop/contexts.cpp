#include "orb/giop/contexts.h"

#include "orb/base/minor.h"

namespace corelane::giop {

bool ContextList::next(cdr::Reader& reader, ServiceContext& item) noexcept {
  return reader.read(item.id) && reader.read_octets(item.data);
}

// Checks the items after the count, and keeps their place.
bool ContextList::read_items(cdr::Reader& reader, const Limits& limits, ContextList& out) noexcept {
  if (out.count_ > limits.contexts) return out.count_ = 0, reader.fail(minor::too_many_contexts);
  out.items_ = reader.rest();
  out.offset_ = reader.offset();
  out.order_ = reader.order();
  ServiceContext skipped;
  for (std::uint32_t i = 0; i < out.count_; ++i)  // bound: limits.contexts
    if (!next(reader, skipped)) return false;
  return true;
}

std::optional<Bytes> ContextList::search(std::uint32_t id) const noexcept {
  cdr::Reader reader = items();
  ServiceContext item;
  for (std::uint32_t i = 0; i < count_ && next(reader, item); ++i)
    if (item.id == id) return item.data;
  return std::nullopt;
}

std::optional<Bytes> find_context(std::span<const ServiceContext> list, std::uint32_t id) noexcept {
  for (const ServiceContext& item : list)
    if (item.id == id) return item.data;
  return std::nullopt;
}

void write_contexts(cdr::Writer& writer, std::span<const ServiceContext> contexts) {
  writer.write_length(contexts.size());
  for (const ServiceContext& item : contexts) {
    writer.write(item.id);
    writer.write_octets(item.data);
  }
}

}  // namespace corelane::giop
