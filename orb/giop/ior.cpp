#include "orb/giop/ior.h"

#include <algorithm>

#include "orb/base/minor.h"

namespace corelane::giop {
namespace {

using cdr::Reader;
using cdr::Writer;

constexpr std::size_t smallest_tagged = 8;  // tag and length
constexpr std::size_t beside_key = 256;     // bytes of a request that has an object key, without the key
constexpr std::uint8_t unix_address_version = 1;
constexpr std::string_view prefix = "IOR:";
constexpr Error bad_ior{ErrorKind::inv_objref, Completion::no, minor::bad_ior};

std::vector<std::byte> copy_of(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

void write_tagged(Writer& writer, const std::vector<Tagged>& items) {
  writer.write_length(items.size());
  for (const Tagged& item : items) {
    writer.write(item.tag);
    writer.write_octets(item.data);
  }
}

bool read_tagged(Reader& reader, std::vector<Tagged>& items, std::uint32_t most) {
  std::uint32_t count = 0;
  if (!reader.read_length(count, smallest_tagged)) return false;
  if (count > most) return reader.fail(minor::too_many_items);
  items.clear();
  for (std::uint32_t i = 0; i < count; ++i) {  // bound: most
    Tagged item;
    Bytes data;
    if (!reader.read(item.tag) || !reader.read_octets(data)) return false;
    item.data = copy_of(data);
    items.push_back(std::move(item));
  }
  return true;
}

// The fields of every IIOP profile. What the version adds stays in the reader.
struct ProfileHead {
  Version version;
  std::string_view host;
  std::uint16_t port = 0;
  Bytes key;
};

bool read_head(Reader& reader, ProfileHead& head) noexcept {
  if (!reader.read(head.version.major) || !reader.read(head.version.minor)) return false;
  if (head.version.major != 1) return reader.fail(minor::bad_ior);
  return reader.read_string(head.host) && reader.read(head.port) && reader.read_octets(head.key);
}

// Returns the minor code of what is wrong with the content of an IIOP profile; 0: nothing.
std::uint32_t profile_fault(Bytes iiop_profile, const Limits& limits) noexcept {
  Reader reader = Reader::of_encapsulation(iiop_profile);
  ProfileHead head;
  if (!read_head(reader, head)) return reader.error().minor;
  return head.key.size() + beside_key > limits.message_size ? minor::key_too_long : 0;
}

std::optional<IiopAddress> parse_alternate(Bytes data) {
  Reader reader = Reader::of_encapsulation(data);
  std::string_view host;
  IiopAddress address;
  if (!reader.read_string(host) || !reader.read(address.port)) return std::nullopt;
  address.host = host;
  return address;
}

std::optional<UnixAddress> parse_unix_address(Bytes data) {
  Reader reader = Reader::of_encapsulation(data);
  std::uint8_t version = 0;
  std::string_view boot_id, path;
  UnixAddress address;
  if (!reader.read(version) || version != unix_address_version || !reader.read_string(boot_id) ||
      !reader.read(address.mount_namespace) || !reader.read_string(path) || !path.starts_with('/'))
    return std::nullopt;
  address.boot_id = boot_id;
  address.path = path;
  return address;
}

std::optional<NamedUnixAddress> parse_omniorb_unix(Bytes data) {
  Reader reader = Reader::of_encapsulation(data);
  std::string_view host, path;
  if (!reader.read_string(host) || !reader.read_string(path) || !path.starts_with('/')) return std::nullopt;
  return NamedUnixAddress{.host = std::string(host), .path = std::string(path)};
}

int digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool has_prefix(std::string_view text) noexcept {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [](char a, char b) { return a == b || a == b - 32; });
}

// Returns nothing if a character is no digit or one is missing.
std::optional<std::vector<std::byte>> bytes_of_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return bytes;
}

}  // namespace

void encode(Writer& writer, const Ior& ior) {
  writer.write_string(ior.type_id);
  write_tagged(writer, ior.profiles);
}

bool decode(Reader& reader, Ior& ior) { return decode(reader, ior, Limits{}); }

bool decode(Reader& reader, Ior& ior, const Limits& limits) {
  std::string_view type_id;
  if (!reader.read_string(type_id)) return false;
  ior.type_id = type_id;
  return read_tagged(reader, ior.profiles, limits.profiles);
}

Expected<IiopProfile> parse_iiop(const TaggedProfile& profile, const Limits& limits) {
  if (profile.tag != profile::iiop) return bad_ior;
  Reader reader = Reader::of_encapsulation(profile.data);
  ProfileHead head;
  if (!read_head(reader, head)) return bad_ior;
  IiopProfile result{std::min(head.version, giop_1_2), {std::string(head.host), head.port}, copy_of(head.key), {}};
  if (head.version == giop_1_0 || reader.remaining() == 0) return result;
  if (!read_tagged(reader, result.components, limits.components)) return bad_ior;
  return result;
}

TaggedProfile make_profile(const IiopProfile& profile) {
  Writer writer;
  writer.write_order();
  writer.write(profile.version.major);
  writer.write(profile.version.minor);
  writer.write_string(profile.address.host);
  writer.write(profile.address.port);
  writer.write_octets(profile.object_key);
  if (profile.version > giop_1_0) write_tagged(writer, profile.components);
  return {profile::iiop, writer.to_vector()};
}

Expected<IiopProfile> parse_uiop(const TaggedProfile& profile, std::string& path, const Limits& limits) {
  if (profile.tag != profile::tao_uiop) return bad_ior;
  Reader reader = Reader::of_encapsulation(profile.data);
  Version version;
  std::string_view socket;
  Bytes key;
  if (!reader.read(version.major) || !reader.read(version.minor) || version.major != 1 || !reader.read_string(socket) ||
      !socket.starts_with('/') || !reader.read_octets(key))
    return bad_ior;
  IiopProfile result{std::min(version, giop_1_2), {}, copy_of(key), {}};
  const bool has_components = version > giop_1_0 && reader.remaining() > 0;
  if (has_components && !read_tagged(reader, result.components, limits.components)) return bad_ior;
  path = socket;
  return result;
}

std::optional<Error> fault_of(const Ior& ior, const Limits& limits) {
  const auto bad = [](std::uint32_t code) { return Error{ErrorKind::bad_param, Completion::no, code}; };
  if (ior.type_id.find('\0') != std::string::npos) return bad(minor::string_has_nul);
  std::optional<Error> first;
  for (const TaggedProfile& tagged : ior.profiles) {  // bound: limits.profiles
    if (tagged.tag == profile::tao_uiop) return std::nullopt;
    if (tagged.tag != profile::iiop) continue;
    const std::uint32_t fault = profile_fault(tagged.data, limits);
    if (fault == 0) return std::nullopt;
    if (!first) first = bad(fault);
  }
  return first;
}

Bytes object_key_of(Bytes iiop_profile) noexcept {
  Reader reader = Reader::of_encapsulation(iiop_profile);
  ProfileHead head;
  return read_head(reader, head) ? head.key : Bytes{};
}

Expected<std::vector<TaggedComponent>> parse_components(Bytes data, const Limits& limits) {
  Reader reader = Reader::of_encapsulation(data);
  std::vector<TaggedComponent> components;
  if (!read_tagged(reader, components, limits.components)) return bad_ior;
  return components;
}

const TaggedComponent* find_component(const std::vector<TaggedComponent>& components, std::uint32_t tag) noexcept {
  for (const TaggedComponent& item : components)
    if (item.tag == tag) return &item;
  return nullptr;
}

TaggedComponent make_orb_type(std::uint32_t type) {
  Writer writer;
  writer.write_order();
  writer.write(type);
  return {component::orb_type, writer.to_vector()};
}

std::optional<std::uint32_t> orb_type_of(const IiopProfile& profile) noexcept {
  const TaggedComponent* found = find_component(profile.components, component::orb_type);
  if (found == nullptr) return std::nullopt;
  Reader reader = Reader::of_encapsulation(found->data);
  std::uint32_t type = 0;
  return reader.read(type) ? std::optional(type) : std::nullopt;
}

TaggedComponent make_alternate_address(const IiopAddress& address) {
  Writer writer;
  writer.write_order();
  writer.write_string(address.host);
  writer.write(address.port);
  return {component::alternate_address, writer.to_vector()};
}

namespace {

TaggedComponent make_path(std::uint32_t tag, const UnixAddress& address) {
  Writer writer;
  writer.write_order();
  writer.write(unix_address_version);
  writer.write_string(address.boot_id);
  writer.write(address.mount_namespace);
  writer.write_string(address.path);
  return {tag, writer.to_vector()};
}

std::vector<UnixAddress> paths_of(std::uint32_t tag, const IiopProfile& profile) {
  std::vector<UnixAddress> addresses;
  for (const TaggedComponent& item : profile.components) {  // bound: limits.components
    if (item.tag != tag) continue;
    if (auto address = parse_unix_address(item.data)) addresses.push_back(std::move(*address));
  }
  return addresses;
}

}  // namespace

TaggedComponent make_unix_address(const UnixAddress& address) { return make_path(component::unix_socket, address); }
TaggedComponent make_channel_address(const UnixAddress& address) { return make_path(component::channel, address); }

std::vector<UnixAddress> unix_addresses_of(const IiopProfile& profile) {
  return paths_of(component::unix_socket, profile);
}

std::vector<UnixAddress> channel_addresses_of(const IiopProfile& profile) {
  return paths_of(component::channel, profile);
}

std::vector<NamedUnixAddress> omniorb_unix_addresses_of(const IiopProfile& profile) {
  std::vector<NamedUnixAddress> addresses;
  for (const TaggedComponent& item : profile.components) {  // bound: limits.components
    if (item.tag != component::omniorb_unix) continue;
    if (auto address = parse_omniorb_unix(item.data)) addresses.push_back(std::move(*address));
  }
  return addresses;
}

std::vector<IiopAddress> addresses_of(const IiopProfile& profile) {
  std::vector<IiopAddress> addresses{profile.address};
  for (const TaggedComponent& item : profile.components) {
    if (item.tag != component::alternate_address) continue;
    if (auto address = parse_alternate(item.data)) addresses.push_back(std::move(*address));
  }
  return addresses;
}

std::string to_string(const Ior& ior) {
  constexpr char digits[] = "0123456789abcdef";
  Writer writer;
  writer.write_order();
  encode(writer, ior);
  std::string text(prefix);
  text.reserve(prefix.size() + 2 * writer.size());
  for (const std::byte b : writer.bytes()) {
    text += digits[std::to_integer<unsigned>(b) >> 4];
    text += digits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

Expected<Ior> parse_ior(std::string_view text, const Limits& limits) {
  if (!has_prefix(text)) return Error{ErrorKind::bad_param, Completion::no, minor::bad_uri};
  if (text.size() / 2 > limits.message_size) return bad_ior;
  const auto bytes = bytes_of_hex(text.substr(prefix.size()));
  if (!bytes) return bad_ior;
  Reader reader = Reader::of_encapsulation(*bytes);
  Ior ior;
  if (!decode(reader, ior, limits)) return bad_ior;
  return ior;
}

}  // namespace corelane::giop
