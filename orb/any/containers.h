// Encodes std::map and std::optional, and defines their types. A private extension: CORBA has neither on the wire.
//
// A map is encoded as the sequence of its pairs, in the order of the keys. An optional value is encoded as a sequence
// of at most one element. So IDL for any peer can describe them. Threads: none.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "orb/any/desc_of.h"
#include "orb/cdr/codec.h"

namespace corelane::cdr {

template <typename K, typename V>
void encode(Writer& writer, const std::map<K, V>& values) {
  writer.write_length(values.size());
  for (const auto& [key, value] : values) encode(writer, key), encode(writer, value);
}
// Refuses a duplicate key.
template <typename K, typename V>
bool decode(Reader& reader, std::map<K, V>& values) {
  const Reader::Level level(reader);
  std::uint32_t count = 0;
  if (!level || !reader.read_length(count, 1)) return false;
  values.clear();
  for (std::uint32_t i = 0; i < count; ++i) {  // bound: read_length()
    K key{};
    V value{};
    if (!decode(reader, key) || !decode(reader, value)) return false;
    if (!values.emplace(std::move(key), std::move(value)).second) return reader.fail(minor::bad_map);
  }
  return true;
}

template <typename T>
void encode(Writer& writer, const std::optional<T>& value) {
  writer.write_length(value ? 1 : 0);
  if (value) encode(writer, *value);
}
template <typename T>
bool decode(Reader& reader, std::optional<T>& value) {
  const Reader::Level level(reader);
  std::uint32_t count = 0;
  if (!level || !reader.read(count)) return false;
  if (count > 1) return reader.fail(minor::bound_exceeded);
  value.reset();
  return count == 0 || decode(reader, value.emplace());
}

}  // namespace corelane::cdr

namespace corelane::any {

template <typename K, typename V>
inline constexpr MemberDesc pair_members[] = {{"key", desc_of<K>}, {"value", desc_of<V>}};
template <typename K, typename V>
inline constexpr TypeDesc pair_desc{.kind = Kind::structure, .name = "pair", .members = pair_members<K, V>};
template <typename K, typename V, std::uint32_t bound = 0>
inline constexpr TypeDesc map_desc{.kind = Kind::sequence, .content = &pair_desc<K, V>, .length = bound};
template <Described K, Described V>
inline constexpr const TypeDesc* desc_of<std::map<K, V>> = &map_desc<K, V>;
template <Described T>
inline constexpr const TypeDesc* desc_of<std::optional<T>> = &sequence_desc<T, 1>;

}  // namespace corelane::any
