#include "orb/giop/corbaname.h"

#include <algorithm>
#include <utility>

#include "orb/base/minor.h"
#include "orb/giop/url_text.h"

namespace corelane::giop {
namespace {

constexpr std::string_view name_scheme = "corbaname:";
constexpr Error bad_name{ErrorKind::bad_param, Completion::no, minor::bad_uri};

// The scheme's letters may be upper or lower case.
bool has_scheme(std::string_view text) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return text.size() >= name_scheme.size() && std::equal(name_scheme.begin(), name_scheme.end(), text.begin(),
                                                         [&](char a, char b) { return a == lower(b); });
}

// Returns the fault of corbaname:rir:plant/controller; "" if the text does not look like that.
std::string name_without_mark(std::string_view text) {
  constexpr std::string_view initial = "rir:";
  if (!text.starts_with(initial)) return {};
  text.remove_prefix(initial.size());
  if (text.empty() || text.starts_with('/') || text.find(':') != text.npos) return {};
  return "the name follows a #: " + std::string(name_scheme) + std::string(initial) + "#" + std::string(text);
}

}  // namespace

Expected<Corbaname, UriFault> parse_corbaname(std::string_view text, const Limits& limits) {
  if (!has_scheme(text)) return UriFault{bad_name, {}};
  text.remove_prefix(name_scheme.size());
  const std::size_t mark = std::min(text.find('#'), text.size());
  auto context = parse_corbaloc("corbaloc:" + std::string(text.substr(0, mark)), limits);
  if (!context) return UriFault{context.error(), mark == text.size() ? name_without_mark(text) : std::string{}};
  if (context->object_key.empty()) context->object_key = "NameService";
  Corbaname result{std::move(*context), {}};
  if (mark + 1 >= text.size()) return result;
  const auto unescaped = url_unescaped(text.substr(mark + 1));
  if (!unescaped) return UriFault{bad_name, "after a % in a name two hexadecimal digits stand"};
  auto name = parse_name(*unescaped);
  if (!name) return UriFault{bad_name, name.error().text};
  result.name = std::move(*name);
  return result;
}

Expected<std::string, UriFault> corbaname_of(std::string_view address, std::string_view name) {
  if (address.empty() || address.find('#') != address.npos) return UriFault{bad_name, {}};
  std::string url(name_scheme);
  url += address;
  if (auto context = parse_corbaname(url); !context) return context.error();
  if (name.empty()) return url;
  if (auto known = parse_name(name); !known) return UriFault{bad_name, known.error().text};
  return url + '#' + url_escaped(name);
}

}  // namespace corelane::giop
