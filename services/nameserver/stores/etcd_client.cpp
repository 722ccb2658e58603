#include "services/nameserver/stores/etcd_client.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "services/nameserver/stores/base64.h"

namespace corelane::nameserver {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_idle = 8;
constexpr int not_found = 5, out_of_range = 11, unauthenticated = 16;  // codes of gRPC

Json parse(const std::string& text) { return Json::parse(text, nullptr, false); }

// What is missing or of another kind is empty: that is how the gateway says zero and nothing.
const Json& member(const Json& json, const char* name) {
  static const Json nothing;
  if (!json.is_object()) return nothing;
  const auto found = json.find(name);
  return found == json.end() ? nothing : *found;
}
std::string text_in(const Json& json, const char* name) {
  const Json& value = member(json, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}
bool flag_in(const Json& json, const char* name) { return member(json, name) == true; }

// 64-bit numbers are strings there.
template <typename Number>
Number number_in(const Json& json, const char* name) {
  const Json& value = member(json, name);
  if (value.is_number_integer()) return value.get<Number>();
  const std::string text = text_in(json, name);
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::uint64_t revision_in(const Json& reply) { return number_in<std::uint64_t>(member(reply, "header"), "revision"); }

EtcdEntry entry_of(const Json& json) {
  return {.key = from_base64(text_in(json, "key")).value_or(""),
          .value = from_base64(text_in(json, "value")).value_or(""),
          .modified = number_in<std::uint64_t>(json, "mod_revision"),
          .lease = number_in<EtcdLease>(json, "lease")};
}

std::vector<EtcdEntry> entries_in(const Json& reply, const char* name) {
  std::vector<EtcdEntry> entries;
  for (const Json& entry : member(reply, name)) entries.push_back(entry_of(entry));
  return entries;
}

EtcdFault refusal_of(const HttpReply& reply) {
  const Json json = parse(reply.body);
  const std::string said = text_in(json, "error");
  const int code = number_in<int>(json, "code");
  EtcdFault fault{EtcdFault::Kind::refused,
                  "etcd refuses: " + (said.empty() ? "HTTP status " + std::to_string(reply.status) : said)};
  if (code == not_found && said.find("lease") != std::string::npos) fault.kind = EtcdFault::Kind::no_lease;
  if (code == out_of_range) fault.kind = EtcdFault::Kind::compacted;
  // etcd is there and cannot serve: no leader, too busy.
  if (reply.status >= 500 || code == 14) fault.kind = EtcdFault::Kind::unreachable;
  return fault;
}

bool asks_for_login(const HttpReply& reply) {
  const Json json = parse(reply.body);
  return number_in<int>(json, "code") == unauthenticated ||
         text_in(json, "error").find("user name is empty") != std::string::npos;
}

EtcdFault nonsense() { return {EtcdFault::Kind::unreachable, "what answers is no etcd, or not its HTTP gateway"}; }

}  // namespace

std::string end_of_prefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (prefix.empty()) return std::string(1, '\0');  // all keys
  ++prefix.back();
  return prefix;
}

EtcdTransaction& EtcdTransaction::compare(Comparison comparison) {
  comparisons_.push_back(std::move(comparison));
  return *this;
}

EtcdTransaction& EtcdTransaction::if_present(std::string key) {
  return compare({.key = std::move(key), .is_creation = true, .is_greater = true});
}

EtcdTransaction& EtcdTransaction::if_nothing_below(std::string prefix) {
  std::string end = end_of_prefix(prefix);  // of a range without keys etcd says that it was created at 0
  return compare({.key = std::move(prefix), .end = std::move(end), .is_creation = true});
}

EtcdTransaction& EtcdTransaction::if_unchanged(std::string key, std::uint64_t modified) {
  return compare({.key = std::move(key), .revision = modified});
}

EtcdTransaction& EtcdTransaction::then_put(std::string key, std::string value, EtcdLease lease) {
  steps_.push_back({.key = std::move(key), .value = std::move(value), .lease = lease});
  return *this;
}

EtcdTransaction& EtcdTransaction::then_delete(std::string key) {
  steps_.push_back({.key = std::move(key), .deletes = true});
  return *this;
}

EtcdTransaction& EtcdTransaction::else_get(std::string key) {
  read_.push_back(std::move(key));
  return *this;
}

std::string EtcdTransaction::json() const {
  Json compares = Json::array(), steps = Json::array(), reads = Json::array();
  for (const Comparison& each : comparisons_) {
    Json compare{{"key", to_base64(each.key)},
                 {"target", each.is_creation ? "CREATE" : "MOD"},
                 {"result", each.is_greater ? "GREATER" : "EQUAL"},
                 {each.is_creation ? "create_revision" : "mod_revision", std::to_string(each.revision)}};
    if (!each.end.empty()) compare["range_end"] = to_base64(each.end);
    compares.push_back(std::move(compare));
  }
  for (const Step& each : steps_) {
    const std::string key = to_base64(each.key);
    if (each.deletes)
      steps.push_back({{"request_delete_range", {{"key", key}, {"prev_kv", true}}}});
    else
      steps.push_back(
          {{"request_put", {{"key", key}, {"value", to_base64(each.value)}, {"lease", std::to_string(each.lease)}}}});
  }
  for (const std::string& key : read_) reads.push_back({{"request_range", {{"key", to_base64(key)}}}});
  return Json{{"compare", std::move(compares)}, {"success", std::move(steps)}, {"failure", std::move(reads)}}.dump();
}

Expected<EtcdRange, EtcdFault> EtcdClient::range(const std::string& begin, const std::string& end, std::size_t most,
                                                 std::uint64_t revision) {
  const Json request{{"key", to_base64(begin)},
                     {"range_end", to_base64(end)},
                     {"limit", std::to_string(most)},
                     {"revision", std::to_string(revision)}};
  const auto reply = call("/v3/kv/range", request.dump());
  if (!reply) return reply.error();
  const Json json = parse(*reply);
  if (revision_in(json) == 0) return nonsense();
  return EtcdRange{
      .entries = entries_in(json, "kvs"), .revision = revision_in(json), .has_more = flag_in(json, "more")};
}

Expected<EtcdOutcome, EtcdFault> EtcdClient::commit(const EtcdTransaction& transaction) {
  const auto reply = call("/v3/kv/txn", transaction.json());
  if (!reply) return reply.error();
  const Json json = parse(*reply);
  if (revision_in(json) == 0) return nonsense();
  EtcdOutcome outcome{.held = flag_in(json, "succeeded"), .revision = revision_in(json), .entries = {}};
  for (const Json& response : member(json, "responses")) {
    if (response.contains("response_range"))
      outcome.entries.push_back(entries_in(member(response, "response_range"), "kvs"));
    else if (response.contains("response_delete_range"))
      outcome.entries.push_back(entries_in(member(response, "response_delete_range"), "prev_kvs"));
  }
  return outcome;
}

Expected<EtcdLease, EtcdFault> EtcdClient::grant(std::chrono::seconds time) {
  const auto reply = call("/v3/lease/grant", Json{{"TTL", std::to_string(time.count())}}.dump());
  if (!reply) return reply.error();
  const EtcdLease lease = number_in<EtcdLease>(parse(*reply), "ID");
  if (lease == 0) return nonsense();
  return lease;
}

Expected<void, EtcdFault> EtcdClient::keep_alive(EtcdLease lease) {
  const auto reply = call("/v3/lease/keepalive", Json{{"ID", std::to_string(lease)}}.dump());
  if (!reply) return reply.error();
  const Json json = parse(*reply), &result = member(json, "result");
  if (revision_in(result) == 0) return nonsense();
  if (number_in<std::int64_t>(result, "TTL") <= 0) return EtcdFault{EtcdFault::Kind::no_lease, "the lease ran out"};
  return {};
}

Expected<EtcdLeaseTime, EtcdFault> EtcdClient::time_of(EtcdLease lease) {
  const auto reply = call("/v3/lease/timetolive", Json{{"ID", std::to_string(lease)}}.dump());
  if (!reply) return reply.error();
  const Json json = parse(*reply);
  if (revision_in(json) == 0) return nonsense();
  const auto seconds = [&](const char* name) { return std::chrono::seconds(number_in<std::int64_t>(json, name)); };
  if (seconds("TTL").count() < 0) return EtcdFault{EtcdFault::Kind::no_lease, "the lease ran out"};
  return EtcdLeaseTime{.left = seconds("TTL"), .granted = seconds("grantedTTL")};
}

Expected<std::string, EtcdFault> EtcdClient::call(const std::string& path, const std::string& json) {
  if (!access_.user.empty() && token().empty())
    if (const auto done = log_in(); !done) return done.error();
  return call_once(path, json);
}

Expected<std::string, EtcdFault> EtcdClient::call_once(const std::string& path, const std::string& json) {
  for (int logins = 0;; ++logins) {
    auto connection = take_connection();
    auto reply = connection->post({.path = path, .body = json, .authorization = token()}, timeout());
    if (!reply) {
      try_another_endpoint();
      return EtcdFault{EtcdFault::Kind::unreachable, "etcd at " + reply.error().text};
    }
    give_back(std::move(connection));
    if (reply->ok()) return std::move(reply->body);
    if (!asks_for_login(*reply) || access_.user.empty() || logins > 0) return refusal_of(*reply);
    if (const auto done = log_in(); !done) return done.error();
  }
}

Expected<void, EtcdFault> EtcdClient::log_in() {
  const Json login{{"name", access_.user}, {"password", access_.password}};
  auto connection = take_connection();
  auto reply = connection->post(
      {.path = "/v3/auth/authenticate", .body = login.dump(-1, ' ', false, Json::error_handler_t::replace)}, timeout());
  if (!reply) return EtcdFault{EtcdFault::Kind::unreachable, "etcd at " + reply.error().text};
  give_back(std::move(connection));
  const std::string token = text_in(parse(reply->body), "token");
  if (!reply->ok()) return refusal_of(*reply);
  const std::lock_guard lock(mutex_);
  token_ = token;
  return {};
}

std::unique_ptr<HttpConnection> EtcdClient::take_connection() {
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) {
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    if (connection->is_idle()) return connection;
  }
  return std::make_unique<HttpConnection>(access_.endpoints[endpoint_]);
}

void EtcdClient::give_back(std::unique_ptr<HttpConnection> connection) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < most_idle && connection->is_idle()) idle_.push_back(std::move(connection));
}

HttpEndpoint EtcdClient::endpoint() const {
  const std::lock_guard lock(mutex_);
  return access_.endpoints[endpoint_];
}

void EtcdClient::try_another_endpoint() {
  const std::lock_guard lock(mutex_);
  endpoint_ = (endpoint_ + 1) % access_.endpoints.size();
  idle_.clear();
}

std::string EtcdClient::token() const {
  const std::lock_guard lock(mutex_);
  return token_;
}

Expected<void, EtcdFault> EtcdWatch::open(const std::string& prefix, std::uint64_t first_revision) {
  const Json request{{"create_request",
                      {{"key", to_base64(prefix)},
                       {"range_end", to_base64(end_of_prefix(prefix))},
                       {"start_revision", std::to_string(first_revision)}}}};
  const auto reply = connection_.open_stream(
      {.path = "/v3/watch", .body = request.dump(), .authorization = client_.token()}, client_.timeout());
  if (!reply) return EtcdFault{EtcdFault::Kind::unreachable, "etcd at " + reply.error().text};
  if (!reply->ok()) return refusal_of(*reply);
  return {};
}

Expected<std::vector<EtcdEvent>, EtcdFault> EtcdWatch::next() {
  const auto line = connection_.next_line();
  if (!line) return EtcdFault{EtcdFault::Kind::unreachable, "etcd at " + line.error().text};
  const Json json = parse(*line), &result = member(json, "result");
  if (number_in<std::uint64_t>(result, "compact_revision") != 0)
    return EtcdFault{EtcdFault::Kind::compacted, "etcd has compacted its history"};
  if (flag_in(result, "canceled") || !result.is_object())
    return EtcdFault{EtcdFault::Kind::refused, "etcd ended the watch: " + text_in(result, "cancel_reason")};
  std::vector<EtcdEvent> events;
  for (const Json& event : member(result, "events"))
    events.push_back({.is_deletion = text_in(event, "type") == "DELETE", .entry = entry_of(member(event, "kv"))});
  return events;
}

}  // namespace corelane::nameserver
