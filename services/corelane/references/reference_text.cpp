#include "services/corelane/references/reference_text.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "orb/base/minor.h"
#include "orb/cdr/reader.h"
#include "orb/giop/corbaloc.h"
#include "orb/giop/corbaname.h"
#include "orb/giop/name_text.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

constexpr std::string_view ior_prefix = "IOR:";

bool begins(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), text.begin(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
         });
}

std::string at_character(std::size_t index) { return "at character " + std::to_string(index + 1) + ": "; }

std::string quoted(char c) { return "'" + plain(std::string(1, c)) + "'"; }

// Returns the first character that is not a hexadecimal digit.
std::optional<std::size_t> bad_digit(std::string_view digits) {
  const auto bad = std::ranges::find_if(digits, [](unsigned char c) { return std::isxdigit(c) == 0; });
  return bad == digits.end() ? std::nullopt : std::optional(static_cast<std::size_t>(bad - digits.begin()));
}

std::vector<std::byte> bytes_of_digits(std::string_view digits) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(value(digits[i]) * 16 + value(digits[i + 1])));
  return bytes;
}

// Returns the first part of the code's text. The rest is about the program that sent a message.
std::string fault_of_bytes(std::uint32_t code) {
  const std::string_view text = minor::text(code);
  return std::string(text.substr(0, text.find(';')));
}

Expected<ReferenceParts, ReferenceFault> take_ior_apart(std::string_view text) {
  const std::string_view digits = text.substr(ior_prefix.size());
  if (const auto bad = bad_digit(digits))
    return ReferenceFault{at_character(ior_prefix.size() + *bad) + quoted(digits[*bad]) + " is no hexadecimal digit"};
  if (digits.size() % 2 != 0)
    return ReferenceFault{at_character(text.size() - 1) + "the last digit has no partner; was the text cut off?"};
  const std::vector<std::byte> bytes = bytes_of_digits(digits);
  cdr::Reader reader = cdr::Reader::of_encapsulation(bytes);
  giop::Ior ior;
  if (!giop::decode(reader, ior)) {
    const std::size_t byte = reader.position();
    return ReferenceFault{at_character(ior_prefix.size() + 2 * byte) + "byte " + std::to_string(byte) + " of " +
                          std::to_string(bytes.size()) + ": " + fault_of_bytes(reader.minor()) +
                          "; was the text cut off?"};
  }
  ReferenceParts parts{.form = "IOR", .type_id = ior.type_id, .nil = ior.nil()};
  for (const giop::TaggedProfile& profile : ior.profiles) parts.profiles.push_back(part_of(profile));
  return parts;
}

// Returns where the first invalid address of corbaloc:LIST/KEY begins. The list must be known to be damaged.
std::size_t bad_address_at(std::string_view text, std::size_t list) {
  const std::size_t end = std::min(text.find('/', list), text.size());
  for (std::size_t at = list; at < end;) {  // bound: the text
    const std::size_t comma = std::min(text.find(',', at), end);
    if (!giop::parse_corbaloc("corbaloc:" + std::string(text.substr(at, comma - at)) + "/x")) return at;
    at = comma + 1;
  }
  return end;
}

std::optional<std::size_t> bad_escape(std::string_view key) {
  for (std::size_t i = 0; i < key.size(); ++i)
    if (key[i] == '%' && (i + 2 >= key.size() || bad_digit(key.substr(i + 1, 2)))) return i;
  return std::nullopt;
}

// `shift` is the number of characters that `text` lacks at its beginning, for positions in messages.
ReferenceFault fault_of_corbaloc(std::string_view text, std::size_t shift = 0) {
  const std::size_t list = std::string_view("corbaloc:").size(), slash = text.find('/', list);
  const std::string expected = "expected iiop:HOST:PORT, :HOST:PORT with an optional 1.2@ before the host, or rir:";
  const std::size_t bad = bad_address_at(text, list);
  if (bad < std::min(slash, text.size())) {
    const std::string_view address = text.substr(bad, std::min(text.find_first_of(",/", bad), text.size()) - bad);
    return {at_character(bad + shift) + "'" + plain(std::string(address)) + "' is no address; " + expected};
  }
  if (slash != text.npos)
    if (const auto escape = bad_escape(text.substr(slash + 1)))
      return {at_character(slash + 1 + *escape + shift) + "% is to be followed by two hexadecimal digits"};
  return {at_character(bad + shift) + "an address is missing; " + expected};
}

void show_corbaloc(const giop::Corbaloc& corbaloc, ReferenceParts& parts) {
  if (corbaloc.initial_reference)
    parts.initial = corbaloc.object_key;
  else
    for (const giop::TaggedProfile& profile : giop::to_ior(corbaloc).profiles)
      parts.profiles.push_back(part_of(profile));
}

Expected<ReferenceParts, ReferenceFault> take_corbaloc_apart(std::string_view text) {
  const auto corbaloc = giop::parse_corbaloc(text);
  if (!corbaloc) return fault_of_corbaloc(text);
  ReferenceParts parts{.form = "corbaloc"};
  show_corbaloc(*corbaloc, parts);
  return parts;
}

// Its faults are those of a corbaloc, whose scheme is one character shorter, or of the name.
ReferenceFault fault_of_corbaname(std::string_view text, const giop::UriFault& fault) {
  const std::size_t hash = text.find('#');
  if (!fault.text.empty() && hash == text.npos) return {fault.text};
  if (!fault.text.empty()) return {at_character(std::min(hash, text.size() - 1) + 1) + fault.text};
  constexpr std::string_view scheme = "corbaname:";
  return fault_of_corbaloc("corbaloc:" + std::string(text.substr(0, hash).substr(scheme.size())), 1);
}

Expected<ReferenceParts, ReferenceFault> take_corbaname_apart(std::string_view text) {
  const auto corbaname = giop::parse_corbaname(text);
  if (!corbaname) return fault_of_corbaname(text, corbaname.error());
  ReferenceParts parts{.form = "corbaname"};
  parts.name = giop::to_string(corbaname->name);
  show_corbaloc(corbaname->context, parts);
  return parts;
}

}  // namespace

bool ReferenceParts::is_sound() const {
  return std::ranges::all_of(profiles, [](const ProfilePart& part) { return part.fault.empty(); });
}

Expected<ReferenceParts, ReferenceFault> take_apart(std::string_view text) {
  if (begins(text, ior_prefix)) return take_ior_apart(text);
  if (begins(text, "corbaloc:")) return take_corbaloc_apart(text);
  if (begins(text, "corbaname:")) return take_corbaname_apart(text);
  return ReferenceFault{at_character(0) + "expected IOR:, corbaloc: or corbaname:"};
}

std::string printable(Bytes bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    const auto c = std::to_integer<unsigned char>(byte);
    text += c >= 0x20 && c < 0x7f && c != '\\' ? std::string(1, static_cast<char>(c)) : format("\\%02x", c);
  }
  return text;
}

std::string hexadecimal(Bytes bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += format("%02x", std::to_integer<unsigned>(byte));
  return text;
}

}  // namespace corelane::tool
