#include "services/corelane/references/ior.h"

#include <istream>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <utility>

#include "orb/base/text/counted.h"
#include "orb/os/files/small_file.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

constexpr std::size_t longest_reference = 1 << 20;

std::string shown_tag(std::uint32_t tag, const std::string& name) {
  return name.empty() ? format("tag 0x%08x", tag) : name;
}

std::string table_of(const ProfilePart& profile, std::size_t number) {
  std::string text = "profile " + std::to_string(number) + ": " + shown_tag(profile.tag, profile.name) +
                     (profile.version.empty() ? "" : " " + profile.version) + "\n";
  if (!profile.fault.empty()) return text + "  damaged: " + plain(profile.fault) + "\n";
  for (const std::string& endpoint : profile.endpoints) text += "  endpoint    " + plain(endpoint) + "\n";
  if (!profile.version.empty() && profile.endpoints.empty())
    text += "  endpoint    none: no client can reach the object by this profile\n";
  if (!profile.version.empty())
    text += "  object key  " + counted(profile.object_key.size(), "byte") + ": " + printable(profile.object_key) + "\n";
  if (!profile.corbaloc.empty()) text += "  the same    " + plain(profile.corbaloc) + "\n";
  for (const ComponentPart& component : profile.components)
    text += "  " + (component.name.empty() ? "component " + shown_tag(component.tag, "") : component.name) + ": " +
            plain(component.content) + "\n";
  return text;
}

std::string table_of(const ReferenceParts& parts) {
  std::string text;
  if (parts.form == "IOR") text += "type        " + (parts.type_id.empty() ? "not said" : plain(parts.type_id)) + "\n";
  if (parts.nil) text += "nil: it refers to no object\n";
  if (!parts.initial.empty())
    text += "begins at   initial reference " + plain(parts.initial) +
            (parts.initial == "NameService" ? ", the nameserver that this ORB finds or is told\n"
                                            : ", as this ORB is told (-ORBInitRef)\n");
  if (!parts.name.empty()) text += "name        " + plain(parts.name) + "\n";
  for (std::size_t i = 0; i < parts.profiles.size(); ++i) text += table_of(parts.profiles[i], i + 1);
  return text;
}

nlohmann::ordered_json json_of(const ProfilePart& profile) {
  nlohmann::ordered_json json{{"tag", profile.tag}, {"name", profile.name}};
  if (!profile.fault.empty()) return json["fault"] = profile.fault, json;
  if (!profile.version.empty()) {
    json["version"] = profile.version;
    json["endpoints"] = profile.endpoints;
    json["object_key_hex"] = hexadecimal(profile.object_key);
    json["object_key"] = printable(profile.object_key);
    json["corbaloc"] = profile.corbaloc;
  }
  json["components"] = nlohmann::ordered_json::array();
  for (const ComponentPart& component : profile.components)
    json["components"].push_back({{"tag", component.tag}, {"name", component.name}, {"content", component.content}});
  return json;
}

std::string json_text(const ReferenceParts& parts) {
  nlohmann::ordered_json json{{"form", parts.form}, {"type_id", parts.type_id},
                              {"nil", parts.nil},   {"initial_reference", parts.initial},
                              {"name", parts.name}, {"profiles", nlohmann::ordered_json::array()}};
  for (const ProfilePart& profile : parts.profiles) json["profiles"].push_back(json_of(profile));
  return json_lines(json);
}

bool is_reference(const std::string& text) {
  const std::string scheme = text.substr(0, text.find(':'));
  for (const char* known : {"IOR", "ior", "corbaloc", "corbaname"})
    if (text.size() > scheme.size() && scheme == known) return true;
  return false;
}

// Returns a short form of the argument, for a message.
std::string named(const std::string& what) {
  constexpr std::size_t readable = 60;
  if (what == "-") return "standard input";
  return what.size() <= readable ? what : what.substr(0, readable) + "...";
}

std::string trimmed(const std::string& text) {
  constexpr const char* blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// Returns nothing if there are more bytes than a reference may have.
std::optional<std::string> read_all(std::istream& in) {
  std::string text(longest_reference + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text.size() > longest_reference ? std::nullopt : std::optional(std::move(text));
}

}  // namespace

std::string text_of(const ReferenceParts& parts, Format shown_as) {
  return shown_as == Format::json ? json_text(parts) : table_of(parts);
}

Expected<std::string, ReferenceFault> reference_of(const std::string& what, std::istream& in) {
  using Result = Expected<std::string, ReferenceFault>;
  if (is_reference(what)) return what;
  const auto complain = [](const std::string& fault) -> Result {
    return ReferenceFault{
        plain(fault) +
        "; give a reference (IOR:, corbaloc: or corbaname:), a file that holds one, or - for standard input"};
  };
  if (what.empty()) return complain("an empty word is no reference");
  if (what == "-") {
    const auto all = read_all(in);
    if (!all)
      return complain("standard input has more than " + std::to_string(longest_reference) +
                      " bytes, so it holds no reference");
    const std::string given = trimmed(*all);
    return given.empty() ? complain("standard input held no reference") : Result(given);
  }
  const std::string path = what.starts_with("file://") ? what.substr(7) : what;
  const auto text = os::read_small_file(path, longest_reference);
  constexpr std::size_t readable = 100;  // the argument may be a damaged reference, which is longer than a path
  if (!text)
    return complain(path.size() <= readable ? text.error().text
                                            : plain(path.substr(0, readable)) + "... is no file's name");
  const std::string held = trimmed(*text);
  return held.empty() ? complain(path + " is empty, so it holds no reference") : Result(held);
}

Expected<std::string, ReferenceFault> sound_reference_of(const std::string& what, std::istream& in) {
  auto reference = reference_of(what, in);
  if (!reference) return reference;
  const auto parts = take_apart(*reference);
  if (parts) return reference;
  return ReferenceFault{plain(named(what)) + (is_reference(what) ? " is no reference: " : " holds no reference: ") +
                        parts.error().text};
}

std::optional<std::string> read_reference(const std::string& who, const std::string& what, std::istream& in,
                                          std::ostream& err) {
  auto reference = sound_reference_of(what, in);
  if (reference) return std::move(*reference);
  err << "corelane " << who << ": " << plain(reference.error().text) << "\n";
  return std::nullopt;
}

int show_reference(const std::string& what, Format shown_as, std::istream& in, std::ostream& out, std::ostream& err) {
  const auto text = reference_of(what, in);
  const auto parts = text ? take_apart(*text) : Expected<ReferenceParts, ReferenceFault>(text.error());
  if (!parts) {
    err << "corelane ior: " << (text && !is_reference(what) ? plain(named(what)) + " holds no reference: " : "")
        << plain(parts.error().text) << "\n";
    return 1;
  }
  out << text_of(*parts, shown_as);
  return parts->is_sound() ? 0 : 1;
}

}  // namespace corelane::tool
