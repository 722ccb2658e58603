#include "services/nameserver/stores/etcd/etcd_client.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "orb/os/lock.h"
#include "services/nameserver/stores/http/base64.h"

namespace corelane::nameserver {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_idle = 8;
// Status codes of gRPC.
constexpr int not_found = 5, forbidden = 7, exhausted = 8, out_of_range = 11, unavailable = 14, unauthenticated = 16;
// Texts of etcd for a missing login, a wrong login and a login that is not needed. Their codes have other meanings,
// too.
constexpr std::string_view lacks_user = "user name is empty", wrong_login = "authentication failed",
                           needs_no_login = "authentication is not enabled";
// etcd's users or roles have changed since the login.
constexpr std::string_view old_login = "revision of auth store is old";

// Returns whether the JSON is nested deeper than any reply of etcd. Each level would take some hundred bytes of memory.
// Brackets within texts count too, but the gateway's texts have only few of them.
bool is_too_deep(std::string_view text) {
  constexpr std::size_t deepest = 100;
  std::size_t depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (depth > deepest) return true;
  }
  return false;
}

Json parse(const std::string& text) {
  return is_too_deep(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

// A missing member, or one of another kind, counts as empty: the gateway leaves out zeros and empty values.
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

// The gateway writes 64-bit numbers as strings.
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

// Returns whether this endpoint cannot serve now: no leader, too busy. Another endpoint may be able to.
bool is_unable(const HttpReply& reply) {
  return reply.status >= 500 || (!reply.ok() && number_in<int>(parse(reply.body), "code") == unavailable);
}

EtcdFault nonsense() {
  return {EtcdFault::Kind::unreachable, "the program that answers is no etcd, or not its HTTP gateway"};
}

EtcdFault refusal_of(const HttpReply& reply) {
  const Json json = parse(reply.body);
  const std::string said = text_in(json, "error");
  if (said.empty()) {  // from a proxy, or a page of another server
    EtcdFault fault = nonsense();
    fault.text += " (HTTP status " + std::to_string(reply.status) + ")";
    return fault;
  }
  const int code = number_in<int>(json, "code");
  const auto says = [&](std::string_view what) { return said.find(what) != std::string::npos; };
  const bool is_login =
      code == forbidden || code == unauthenticated || says(lacks_user) || says(wrong_login) || says(needs_no_login);
  EtcdFault fault{
      EtcdFault::Kind::refused,
      "etcd refuses: " + said + (is_login ? ": see which user and password this nameserver was given" : "")};
  if (code == not_found && says("lease")) fault.kind = EtcdFault::Kind::no_lease;
  if (code == out_of_range) fault.kind = EtcdFault::Kind::compacted;
  if (code == exhausted && says("space exceeded")) fault.kind = EtcdFault::Kind::no_room;
  if (is_unable(reply)) fault.kind = EtcdFault::Kind::unreachable;
  return fault;
}

bool asks_for_login(const HttpReply& reply) {
  const Json json = parse(reply.body);
  const std::string said = text_in(json, "error");
  return number_in<int>(json, "code") == unauthenticated || said.find(lacks_user) != std::string::npos ||
         said.find(old_login) != std::string::npos;
}

Time share_of_time(Time deadline, std::size_t parts) {
  constexpr Duration shortest = std::chrono::seconds{1};
  const Time now = os::now();
  return std::min(deadline, now + std::max(shortest, (deadline - now) / static_cast<Duration::rep>(parts)));
}

// Returns whether the entries are in order and within the range. Then a caller that continues behind the last entry
// makes progress.
bool are_in_order(const std::vector<EtcdEntry>& entries, std::string begin, const std::string& end) {
  for (const EtcdEntry& entry : entries) {
    if (entry.key < begin || (end != std::string(1, '\0') && entry.key >= end)) return false;
    begin = entry.key + '\0';
  }
  return true;
}

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
  std::string end = end_of_prefix(prefix);  // for a range without keys, etcd compares with creation revision 0
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

EtcdTransaction& EtcdTransaction::read(Reading reading) {
  read_.push_back(std::move(reading));
  return *this;
}

EtcdTransaction& EtcdTransaction::else_get_first_below(std::string prefix) {
  std::string end = end_of_prefix(prefix);
  return read({.key = std::move(prefix), .end = std::move(end)});
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
  for (const Reading& each : read_) {
    Json range{{"key", to_base64(each.key)}, {"limit", "1"}};
    if (!each.end.empty()) range["range_end"] = to_base64(each.end);
    reads.push_back({{"request_range", std::move(range)}});
  }
  return Json{{"compare", std::move(compares)}, {"success", std::move(steps)}, {"failure", std::move(reads)}}.dump();
}

Expected<EtcdRange, EtcdFault> EtcdClient::range(const std::string& begin, const std::string& end, std::size_t most,
                                                 std::uint64_t revision) {
  const Json request{{"key", to_base64(begin)},
                     {"range_end", to_base64(end)},
                     {"limit", std::to_string(most)},
                     {"revision", std::to_string(revision)}};
  const auto reply = call("/v3/kv/range", request.dump(), Repeat::yes);
  if (!reply) return reply.error();
  const Json json = parse(*reply);
  if (revision_in(json) == 0) return nonsense();
  EtcdRange range{.entries = entries_in(json, "kvs"), .revision = revision_in(json), .has_more = flag_in(json, "more")};
  if (!are_in_order(range.entries, begin, end)) return nonsense();
  return range;
}

Expected<EtcdOutcome, EtcdFault> EtcdClient::commit(const EtcdTransaction& transaction) {
  const auto reply = call("/v3/kv/txn", transaction.json(), Repeat::no);
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
  const auto reply = call("/v3/lease/grant", Json{{"TTL", std::to_string(time.count())}}.dump(), Repeat::yes);
  if (!reply) return reply.error();
  const EtcdLease lease = number_in<EtcdLease>(parse(*reply), "ID");
  if (lease == 0) return nonsense();
  return lease;
}

Expected<void, EtcdFault> EtcdClient::keep_alive(EtcdLease lease) {
  const auto reply = call("/v3/lease/keepalive", Json{{"ID", std::to_string(lease)}}.dump(), Repeat::yes);
  if (!reply) return reply.error();
  const Json json = parse(*reply), &result = member(json, "result");
  if (revision_in(result) == 0) return nonsense();
  if (number_in<std::int64_t>(result, "TTL") <= 0) return EtcdFault{EtcdFault::Kind::no_lease, "the lease ran out"};
  return {};
}

Expected<EtcdLeaseTime, EtcdFault> EtcdClient::time_of(EtcdLease lease) {
  const auto reply = call("/v3/lease/timetolive", Json{{"ID", std::to_string(lease)}}.dump(), Repeat::yes);
  if (!reply) return reply.error();
  const Json json = parse(*reply);
  if (revision_in(json) == 0) return nonsense();
  const auto seconds = [&](const char* name) { return std::chrono::seconds(number_in<std::int64_t>(json, name)); };
  if (seconds("TTL").count() < 0) return EtcdFault{EtcdFault::Kind::no_lease, "the lease ran out"};
  return EtcdLeaseTime{.left = seconds("TTL"), .granted = seconds("grantedTTL")};
}

Expected<std::string, EtcdFault> EtcdClient::call(const std::string& path, const std::string& json, Repeat repeat) {
  auto reply = ask(path, json, repeat, latest_end());
  if (!reply)
    return EtcdFault{reply.error().is_too_long ? EtcdFault::Kind::too_long : EtcdFault::Kind::unreachable,
                     "etcd at " + reply.error().text};
  if (reply->ok()) return std::move(reply->body);
  return refusal_of(*reply);
}

Expected<HttpReply, HttpFault> EtcdClient::ask(const std::string& path, const std::string& json, Repeat repeat,
                                               Time deadline) {
  if (!access_.user.empty() && token().empty()) {
    auto login = log_in(deadline);
    if (!login || !login->ok()) return login;
  }
  auto reply = ask_as_known(path, json, repeat, deadline);
  if (!reply || reply->ok() || access_.user.empty() || !asks_for_login(*reply)) return reply;
  auto login = log_in(deadline);  // a login is valid for some minutes only
  if (!login || !login->ok()) return login;
  return ask_as_known(path, json, repeat, deadline);
}

// Tries the endpoints one after the other, each at most once. The endpoints that are left share the remaining time for
// making a connection. If the request may be repeated, they share the time for the answer, too.
Expected<HttpReply, HttpFault> EtcdClient::ask_as_known(const std::string& path, const std::string& json, Repeat repeat,
                                                        Time deadline) {
  HttpRequest request = request_of(path, json, deadline);
  for (std::size_t others = access_.endpoints.size() - 1;; --others) {
    request.connect_until = share_of_time(deadline, others + 1);
    if (repeat == Repeat::yes) request.answer_until = request.connect_until;
    auto reply = ask_endpoint(request);
    const bool is_in_doubt = reply ? is_unable(*reply) : reply.error().was_sent;
    const bool is_final = reply ? !is_unable(*reply) : reply.error().is_too_long;
    if (is_final || others == 0 || (is_in_doubt && repeat == Repeat::no)) return reply;
  }
}

Expected<HttpReply, HttpFault> EtcdClient::ask_endpoint(const HttpRequest& request) {
  auto connection = take_connection();
  auto reply = connection->post(request);
  if (reply ? is_unable(*reply) : !reply.error().is_too_long) try_another_endpoint(connection->endpoint());
  if (reply) give_back(std::move(connection));
  return reply;
}

HttpRequest EtcdClient::request_of(const std::string& path, const std::string& json, Time deadline) const {
  return {.path = path, .body = json, .authorization = token(), .connect_until = deadline, .answer_until = deadline};
}

Expected<HttpReply, HttpFault> EtcdClient::log_in(Time deadline) {
  const Json login{{"name", access_.user}, {"password", access_.password}};
  forget_token();
  const std::string json = login.dump(-1, ' ', false, Json::error_handler_t::replace);
  auto reply = ask_as_known("/v3/auth/authenticate", json, Repeat::yes, deadline);
  if (!reply || !reply->ok()) return reply;
  const os::LockGuard lock(mutex_);
  token_ = text_in(parse(reply->body), "token");
  return reply;
}

void EtcdClient::forget_token() {
  const os::LockGuard lock(mutex_);
  token_.clear();
}

std::shared_ptr<HttpConnection> EtcdClient::take_connection() {
  const os::LockGuard lock(mutex_);
  auto taken = idle_connection();
  if (!taken) taken = std::make_shared<HttpConnection>(access_.endpoints[endpoint_], access_.network);
  if (is_stopped_) taken->stop();
  std::erase_if(lent_, [](const auto& lent) { return lent.expired(); });
  lent_.push_back(taken);
  return taken;
}

std::shared_ptr<HttpConnection> EtcdClient::idle_connection() {
  while (!idle_.empty()) {
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    if (connection->is_idle()) return connection;
  }
  return nullptr;
}

void EtcdClient::stop() {
  const os::LockGuard lock(mutex_);
  is_stopped_ = true;
  for (const auto& lent : lent_)
    if (const auto connection = lent.lock()) connection->stop();
}

void EtcdClient::give_back(std::shared_ptr<HttpConnection> connection) {
  const os::LockGuard lock(mutex_);
  const bool is_current = connection->endpoint() == access_.endpoints[endpoint_];
  if (is_current && idle_.size() < most_idle && connection->is_idle()) idle_.push_back(std::move(connection));
}

HttpEndpoint EtcdClient::endpoint() const {
  const os::LockGuard lock(mutex_);
  return access_.endpoints[endpoint_];
}

void EtcdClient::try_another_endpoint(const HttpEndpoint& failed) {
  const os::LockGuard lock(mutex_);
  if (access_.endpoints[endpoint_] != failed) return;  // another thread has switched already
  endpoint_ = (endpoint_ + 1) % access_.endpoints.size();
  idle_.clear();
}

std::string EtcdClient::token() const {
  const os::LockGuard lock(mutex_);
  return token_;
}

EtcdFault EtcdWatch::fault_of(const std::string& text) {
  client_.try_another_endpoint(endpoint());
  return {EtcdFault::Kind::unreachable, "etcd at " + text};
}

Expected<void, EtcdFault> EtcdWatch::open(const std::string& prefix, std::uint64_t first_revision) {
  const Json request{{"create_request",
                      {{"key", to_base64(prefix)},
                       {"range_end", to_base64(end_of_prefix(prefix))},
                       {"start_revision", std::to_string(first_revision)}}}};
  HttpRequest begin = client_.request_of("/v3/watch", request.dump(), client_.latest_end());
  // A member that loses contact with the others ends the watch.
  begin.more_headers = "Grpc-Metadata-hasleader: true\r\n";
  const auto reply = connection_.open_stream(begin);
  if (!reply) return fault_of(reply.error().text);
  if (!reply->ok()) return refusal_of(*reply);
  return {};
}

Expected<std::vector<EtcdEvent>, EtcdFault> EtcdWatch::next() {
  const auto line = connection_.next_line();
  if (!line) return fault_of(line.error().text);
  const Json json = parse(*line), &result = member(json, "result");
  if (number_in<std::uint64_t>(result, "compact_revision") != 0)
    return EtcdFault{EtcdFault::Kind::compacted, "etcd has compacted its history"};
  if (const Json& error = member(json, "error"); error.is_object())
    return fault_of(endpoint().text() + ": " + text_in(error, "message"));
  if (flag_in(result, "canceled") || !result.is_object()) {
    const std::string reason = text_in(result, "cancel_reason");
    return EtcdFault{EtcdFault::Kind::refused, "etcd ended the watch" + (reason.empty() ? "" : ": " + reason)};
  }
  std::vector<EtcdEvent> events;
  for (const Json& event : member(result, "events"))
    events.push_back({.is_deletion = text_in(event, "type") == "DELETE", .entry = entry_of(member(event, "kv"))});
  return events;
}

}  // namespace corelane::nameserver
