#include "orb/giop/corbaloc.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "orb/base/minor.h"
#include "orb/giop/url_text.h"

namespace corelane::giop {
namespace {

constexpr Error bad_uri{ErrorKind::bad_param, Completion::no, minor::bad_uri};
constexpr Error bad_address{ErrorKind::bad_param, Completion::no, minor::bad_address};

// ASCII only, as in comparisons of URI schemes and escapes.
char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_alnum(char c) noexcept { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z'); }

bool eat(std::string_view& text, std::string_view prefix) noexcept {
  if (text.size() < prefix.size()) return false;
  if (!std::equal(prefix.begin(), prefix.end(), text.begin(), [](char a, char b) { return a == lower(b); }))
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Returns the text before `mark`, or all of it if there is no mark. Removes it and the mark from `text`.
std::string_view eat_until(std::string_view& text, char mark) noexcept {
  const std::string_view head = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(text.size(), head.size() + 1));
  return head;
}

// Parses all of `text` as a number; returns nothing if it is none or does not fit.
template <typename Number>
std::optional<Number> number_of(std::string_view text, int base = 10) noexcept {
  Number number{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_host(std::string_view host) noexcept {
  return !host.empty() &&
         std::all_of(host.begin(), host.end(), [](char c) { return is_alnum(c) || c == '-' || c == '.' || c == '_'; });
}

// Returns whether the text looks like an IPv6 literal with an optional %zone. The resolver decides whether it is an
// address.
bool is_ipv6(std::string_view host) noexcept {
  const std::string_view digits = host.substr(0, host.find('%'));
  const std::string_view zone = host.substr(digits.size());
  return digits.find(':') != digits.npos && (zone.empty() || is_host(zone.substr(1))) &&
         std::all_of(digits.begin(), digits.end(), [](char c) {
           return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f') || c == ':' || c == '.';
         });
}

// Parses [major.minor@].
bool eat_version(std::string_view& text, Version& version) noexcept {
  if (text.find('@') == text.npos) return true;
  std::string_view spelt = eat_until(text, '@');
  const auto major = number_of<std::uint8_t>(eat_until(spelt, '.'));
  const auto minor = number_of<std::uint8_t>(spelt);
  if (!major || !minor) return false;
  version = {*major, *minor};
  return version >= giop_1_0 && version <= giop_1_2;
}

// Splits host[:port]; `port` is the text after the host, with its colon.
bool split_host(std::string_view text, std::string_view& host, std::string_view& port) noexcept {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == text.npos) return false;
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    return is_ipv6(host);
  }
  host = text.substr(0, text.find(':'));
  port = text.substr(host.size());
  return text.empty() || is_host(host);
}

Expected<IiopAddress> parse_address(std::string_view text) {
  std::string_view host;
  std::string_view port;
  if (!split_host(text, host, port)) return bad_address;
  IiopAddress address{std::string(host), default_corbaloc_port};
  if (port.empty()) return address;
  const auto number = port.starts_with(':') ? number_of<std::uint16_t>(port.substr(1)) : std::nullopt;
  if (!number || *number == 0) return bad_address;
  address.port = *number;
  return address;
}

Expected<CorbalocAddress> parse_iiop_address(std::string_view text) {
  CorbalocAddress result;
  if (!eat(text, ":") && !eat(text, "iiop:")) return bad_uri;
  if (!eat_version(text, result.version)) return bad_uri;
  Expected<IiopAddress> address = parse_address(text);
  if (!address) return address.error();
  result.address = std::move(*address);
  return result;
}

Expected<std::vector<CorbalocAddress>> parse_addresses(std::string_view list, const Limits& limits) {
  std::vector<CorbalocAddress> addresses;
  if (list.empty() || list.ends_with(',')) return bad_uri;
  while (!list.empty()) {  // bound: limits.profiles
    Expected<CorbalocAddress> address = parse_iiop_address(eat_until(list, ','));
    if (!address) return address.error();
    if (addresses.size() == limits.profiles) return bad_uri;
    addresses.push_back(std::move(*address));
  }
  return addresses;
}

}  // namespace

Expected<Corbaloc> parse_corbaloc(std::string_view text, const Limits& limits) {
  if (!eat(text, "corbaloc:")) return bad_uri;
  const std::string_view list = eat_until(text, '/');
  auto key = url_unescaped(text);
  if (!key) return bad_uri;
  Corbaloc result;
  result.object_key = std::move(*key);
  if (std::string_view rest = list; eat(rest, "rir:")) {
    if (!rest.empty()) return bad_uri;
    result.initial_reference = true;
    if (result.object_key.empty()) result.object_key = "NameService";
    return result;
  }
  Expected<std::vector<CorbalocAddress>> addresses = parse_addresses(list, limits);
  if (!addresses) return addresses.error();
  result.addresses = std::move(*addresses);
  return result;
}

std::string to_string(const Corbaloc& corbaloc) {
  std::string text = "corbaloc:";
  if (corbaloc.initial_reference) text += "rir:";
  std::string_view separator;
  for (const CorbalocAddress& item : corbaloc.addresses) {
    const bool ipv6 = item.address.host.find(':') != std::string::npos;
    text += separator;
    text += "iiop:" + std::to_string(item.version.major) + '.' + std::to_string(item.version.minor) + '@';
    text += ipv6 ? '[' + item.address.host + ']' : item.address.host;
    if (!item.address.host.empty()) text += ':' + std::to_string(item.address.port);
    separator = ",";
  }
  return text + '/' + url_escaped(corbaloc.object_key);
}

Ior to_ior(const Corbaloc& corbaloc) {
  const Bytes key = std::as_bytes(std::span(corbaloc.object_key));
  Ior ior;
  for (const CorbalocAddress& item : corbaloc.addresses) {
    IiopAddress address = item.address;
    if (address.host.empty()) address.host = "localhost";
    ior.profiles.push_back(make_profile({item.version, std::move(address), {key.begin(), key.end()}, {}}));
  }
  return ior;
}

}  // namespace corelane::giop
