#include "services/nameserver/stores/etcd/etcd_keys.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "orb/giop/url_text.h"

namespace corelane::nameserver {
namespace {

constexpr std::string_view contexts_below = "context/", names_below = "name/";
constexpr std::size_t context_digits = 16;

std::string digits_of(ContextId context) {
  std::array<char, context_digits + 1> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(context));
  return digits.data();
}

std::optional<ContextId> context_in(std::string_view digits) {
  ContextId context = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), context, 16).ptr;
  if (digits.size() != context_digits || end != digits.data() + digits.size()) return std::nullopt;
  return context;
}

std::optional<NameComponent> name_in(std::string_view text) {
  const std::size_t bar = text.find('|');
  if (bar == std::string_view::npos) return std::nullopt;
  auto id = giop::url_unescaped(text.substr(0, bar)), kind = giop::url_unescaped(text.substr(bar + 1));
  if (!id || !kind) return std::nullopt;
  return NameComponent{std::move(*id), std::move(*kind)};
}

std::optional<std::string> text_member(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_string()) return std::nullopt;
  return giop::url_unescaped(found->get_ref<const std::string&>());
}

}  // namespace

std::string EtcdKeys::context(ContextId context) const {
  return prefix_ + std::string(contexts_below) + digits_of(context);
}
std::string EtcdKeys::names_of(ContextId context) const {
  return prefix_ + std::string(names_below) + digits_of(context) + "/";
}
std::string EtcdKeys::name(ContextId context, const NameComponent& name) const {
  return names_of(context) + giop::url_escaped(name.id) + "|" + giop::url_escaped(name.kind);
}

std::optional<EtcdKeys::Place> EtcdKeys::place_of(const std::string& key) const {
  if (!key.starts_with(prefix_)) return std::nullopt;
  std::string_view rest = std::string_view(key).substr(prefix_.size());
  const bool is_name = rest.starts_with(names_below);
  if (!is_name && !rest.starts_with(contexts_below)) return std::nullopt;
  rest.remove_prefix(is_name ? names_below.size() : contexts_below.size());
  const auto context = context_in(rest.substr(0, context_digits));
  if (!context) return std::nullopt;
  rest.remove_prefix(context_digits);
  if (!is_name) return rest.empty() ? std::optional<Place>({*context, std::nullopt}) : std::nullopt;
  if (!rest.starts_with('/')) return std::nullopt;
  auto name = name_in(rest.substr(1));
  if (!name) return std::nullopt;
  return Place{*context, std::move(name)};
}

std::string etcd_value_of(const Binding& binding, const std::string& host) {
  return nlohmann::json{{"type", binding.type == BindingType::object ? "object" : "context"},
                        {"reference", giop::url_escaped(binding.reference)},
                        {"context", digits_of(binding.context)},
                        {"owner", giop::url_escaped(binding.owner)},
                        {"host", giop::url_escaped(host)},
                        {"by", giop::url_escaped(binding.bound_by)}}
      .dump();
}

std::optional<Binding> binding_in(const std::string& etcd_value) {
  const auto json = nlohmann::json::parse(etcd_value, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  auto type = text_member(json, "type"), reference = text_member(json, "reference"), owner = text_member(json, "owner");
  const auto context = context_in(text_member(json, "context").value_or(""));
  if (!type || !reference || !owner || !context || (*type != "object" && *type != "context")) return std::nullopt;
  return Binding{.type = *type == "object" ? BindingType::object : BindingType::context,
                 .reference = std::move(*reference),
                 .context = *context,
                 .owner = std::move(*owner),
                 .bound_by = text_member(json, "by").value_or("")};
}

std::string host_in(const std::string& etcd_value) {
  const auto json = nlohmann::json::parse(etcd_value, nullptr, false);
  return json.is_object() ? text_member(json, "host").value_or("") : std::string();
}

}  // namespace corelane::nameserver
