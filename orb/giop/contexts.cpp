#include "orb/giop/contexts.h"

#include "orb/base/minor.h"

namespace corelane::giop {
namespace {
constexpr std::size_t smallest_context = 8;  // id and length
}

bool ContextList::next(cdr::Reader& reader, ServiceContext& item) noexcept {
  return reader.read(item.id) && reader.read_octets(item.data);
}

[[gnu::hot]] bool ContextList::read(cdr::Reader& reader, const Limits& limits, ContextList& out) noexcept {
  std::uint32_t count = 0;
  if (!reader.read_length(count, smallest_context)) return false;
  if (count > limits.contexts) return reader.fail(minor::too_many_contexts);
  out.count_ = count;
  if (count == 0) return true;
  out.items_ = reader.rest();
  out.offset_ = reader.offset();
  out.order_ = reader.order();
  ServiceContext skipped;
  for (std::uint32_t i = 0; i < count; ++i)
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
