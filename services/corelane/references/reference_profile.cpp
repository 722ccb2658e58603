// Decodes profiles and components of a reference for people.
#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

#include "orb/base/text/counted.h"
#include "orb/cdr/reader.h"
#include "orb/giop/code_sets.h"
#include "orb/giop/corbaloc.h"
#include "orb/giop/limits.h"
#include "orb/transport/transport_kind.h"
#include "services/corelane/output/text.h"
#include "services/corelane/references/reference_text.h"

namespace corelane::tool {
namespace {

namespace component = giop::component;

template <typename Value, std::size_t n>
const char* name_in(const std::pair<Value, const char*> (&table)[n], Value value) {
  for (const auto& [known, name] : table)
    if (known == value) return name;
  return nullptr;
}

std::string code_set_name(std::uint32_t set) {
  static constexpr std::pair<std::uint32_t, const char*> table[] = {{giop::code_set::none, "none"},
                                                                    {giop::code_set::iso_8859_1, "ISO 8859-1"},
                                                                    {giop::code_set::utf_16, "UTF-16"},
                                                                    {giop::code_set::utf_8, "UTF-8"},
                                                                    {0x00010020, "ISO 646 (ASCII)"},
                                                                    {0x00010100, "UCS-2"},
                                                                    {0x00010106, "UCS-4"},
                                                                    {0x0001000f, "ISO 8859-15"}};
  const char* const name = name_in(table, set);
  return name != nullptr ? name : format("0x%08x", set);
}

std::string offer_text(const giop::CodeSetOffer& offer) {
  std::string text = code_set_name(offer.native);
  for (const std::uint32_t set : offer.conversions)
    text += (set == offer.conversions.front() ? ", converts " : ", ") + code_set_name(set);
  return text;
}

std::string code_sets_text(const giop::TaggedComponent& item) {
  const auto sets = giop::parse_code_sets(item.data);
  return sets ? "char " + offer_text(sets->for_char) + "; wchar " + offer_text(sets->for_wchar) : "malformed";
}

std::string orb_text(const giop::TaggedComponent& item) {
  static constexpr std::pair<std::uint32_t, const char*> table[] = {
      {giop::corelane_orb_type, "Corelane"}, {0x54414f00, "TAO"}, {0x41545400, "omniORB"}, {0x4a414300, "JacORB"}};
  cdr::Reader reader = cdr::Reader::of_encapsulation(item.data);
  std::uint32_t type = 0;
  if (!reader.read(type)) return "malformed";
  const char* const name = name_in(table, type);
  return name != nullptr ? name : format("0x%08x", type);
}

std::string policies_text(const giop::TaggedComponent& item) {
  static constexpr std::pair<std::uint32_t, const char*> table[] = {
      {40, "priority model"}, {41, "thread pool"}, {42, "server protocol"}, {45, "priority bands"}};
  cdr::Reader reader = cdr::Reader::of_encapsulation(item.data);
  std::uint32_t count = 0, type = 0;
  std::string text;
  if (!reader.read_length(count, 8)) return "malformed";
  for (std::uint32_t i = 0; i < count; ++i) {  // bound: read_length() has checked that so many are there
    Bytes value;
    if (!reader.read(type) || !reader.read_octets(value)) return "malformed";
    const char* const name = name_in(table, type);
    text += (text.empty() ? "" : ", ") + (name != nullptr ? std::string(name) : std::to_string(type));
  }
  return text;
}

std::string host_text(const giop::IiopAddress& address) {
  const bool ipv6 = address.host.find(':') != std::string::npos;
  return (ipv6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

std::string hex_text(const giop::TaggedComponent& item) {
  constexpr std::size_t shown = 32;
  const Bytes data = item.data;
  return counted(data.size(), "byte") + ": " + hexadecimal(data.first(std::min(shown, data.size()))) +
         (data.size() > shown ? "..." : "");
}

struct KnownComponent {
  std::uint32_t tag;
  const char* name;
  std::string (*text)(const giop::TaggedComponent& item);
};

constexpr KnownComponent known_components[] = {
    {component::orb_type, "ORB type", &orb_text},
    {component::code_sets, "code sets", &code_sets_text},
    {component::policies, "policies", &policies_text},
    {5, "complete object key", &hex_text},
    {20, "SSL", &hex_text},
    {27, "object group", &hex_text},
    {33, "secure interoperability (CSI)", &hex_text},
    {0x54414f02, "endpoints (TAO)", &hex_text},
};

// Returns what a kind of transport says of a component that names an endpoint; nothing: no kind knows it.
std::optional<transport::ShownComponent> shown_by_transport(const giop::TaggedComponent& item) {
  for (const transport::TransportKind* const kind : transport::transport_kinds())
    if (auto shown = kind->show(item)) return shown;
  return std::nullopt;
}

// Returns all endpoints, kind by kind. The kinds that work from everywhere come first.
std::vector<std::string> endpoints_of(const giop::IiopProfile& profile) {
  std::vector<std::string> endpoints;
  if (!profile.address.host.empty()) endpoints.push_back("tcp " + host_text(profile.address));
  for (const transport::TransportKind* const kind : std::views::reverse(transport::transport_kinds()))
    for (const giop::TaggedComponent& item : profile.components)
      if (auto shown = kind->show(item); shown && !shown->endpoint.empty())
        endpoints.push_back(std::move(shown->endpoint));
  return endpoints;
}

// Reads field by field to find the first missing one. Call it only for a profile that is known to be damaged.
std::string fault_of_iiop(const giop::TaggedProfile& profile) {
  cdr::Reader reader = cdr::Reader::of_encapsulation(profile.data);
  giop::Version version;
  std::string_view host;
  std::uint16_t port = 0;
  Bytes key;
  const auto at = [&](const char* what) {
    return std::string(what) + " expected at byte " + std::to_string(reader.position()) + " of its " +
           std::to_string(profile.data.size());
  };
  if (!reader.ok()) return at("a byte order (0 or 1)");
  if (!reader.read(version.major) || !reader.read(version.minor)) return at("a version");
  if (version.major != 1) return "IIOP " + std::to_string(version.major) + ", of which only 1 is known";
  if (!reader.read_string(host)) return at("a host (a length, and text with a NUL at its end)");
  if (!reader.read(port)) return at("a port");
  if (!reader.read_octets(key)) return at("an object key (a length, and so many bytes)");
  const auto place = reader.position();
  std::uint32_t count = 0;
  if (!reader.read_length(count, 8)) return at("a number of components");
  return counted(count, "component is", "components are") + " said at byte " + std::to_string(place) +
         ", damaged or more than " + std::to_string(giop::Limits{}.components);
}

void show_iiop(const giop::TaggedProfile& profile, ProfilePart& part) {
  const auto read = giop::parse_iiop(profile);
  if (!read) {
    part.fault = fault_of_iiop(profile);
    return;
  }
  part.version = std::to_string(read->version.major) + "." + std::to_string(read->version.minor);
  part.endpoints = endpoints_of(*read);
  part.object_key = read->object_key;
  giop::Corbaloc same;
  if (!read->address.host.empty()) same.addresses.push_back({read->version, read->address});
  same.object_key.assign(reinterpret_cast<const char*>(read->object_key.data()), read->object_key.size());
  if (!same.addresses.empty()) part.corbaloc = giop::to_string(same);
  for (const giop::TaggedComponent& item : read->components) part.components.push_back(part_of_component(item));
}

}  // namespace

ComponentPart part_of_component(const giop::TaggedComponent& item) {
  for (const KnownComponent& known : known_components)
    if (known.tag == item.tag) return {.tag = item.tag, .name = known.name, .content = known.text(item)};
  if (auto shown = shown_by_transport(item))
    return {.tag = item.tag, .name = std::move(shown->name), .content = std::move(shown->content)};
  return {.tag = item.tag, .content = hex_text(item)};
}

ProfilePart part_of(const giop::TaggedProfile& profile) {
  ProfilePart part{.tag = profile.tag};
  if (profile.tag == giop::profile::iiop) {
    part.name = "IIOP";
    show_iiop(profile, part);
  } else if (profile.tag == giop::profile::multiple_components) {
    part.name = "components";
    const auto components = giop::parse_components(profile.data);
    if (!components) return part.fault = "its components are damaged", part;
    for (const giop::TaggedComponent& item : *components) part.components.push_back(part_of_component(item));
  } else {
    part.components.push_back({.tag = profile.tag, .content = hex_text(profile)});
  }
  return part;
}

}  // namespace corelane::tool
