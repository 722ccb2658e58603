// EtcdClient: etcd's operations on keys, leases and logins, over the HTTP gateway of etcd 3.4 (POST of JSON to
// /v3/...). Keys and values are any bytes.
//
// Threads: any, side by side; each call, with its login and all the endpoints that it tries, takes EtcdAccess::timeout
// at most.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/expected.h"
#include "orb/os/clock.h"
#include "services/nameserver/stores/http_connection.h"

namespace corelane::nameserver {

using EtcdLease = std::int64_t;  // 0: none

struct EtcdFault {
  enum class Kind : std::uint8_t { unreachable, refused, no_lease, compacted, too_long, no_room };
  Kind kind = Kind::unreachable;
  std::string text;
};

struct EtcdEntry {
  std::string key{}, value{};
  std::uint64_t modified = 0;  // the revision of its last change
  EtcdLease lease = 0;         // that it hangs on
};

struct EtcdEvent {
  bool is_deletion = false;
  EtcdEntry entry;
};

struct EtcdRange {
  std::vector<EtcdEntry> entries;
  std::uint64_t revision = 0;  // of the store when this was read
  bool has_more = false;
};

// What is to hold, what is done then in one step, and what is read else.
class EtcdTransaction {
 public:
  EtcdTransaction& if_absent(std::string key) { return compare({.key = std::move(key), .is_creation = true}); }
  EtcdTransaction& if_present(std::string key);
  EtcdTransaction& if_nothing_below(std::string prefix);
  // 0: absent.
  EtcdTransaction& if_unchanged(std::string key, std::uint64_t modified);
  EtcdTransaction& then_put(std::string key, std::string value, EtcdLease lease = 0);
  EtcdTransaction& then_delete(std::string key);
  EtcdTransaction& else_get(std::string key) { return read({.key = std::move(key)}); }
  EtcdTransaction& else_get_first_below(std::string prefix);

  std::string json() const;

 private:
  struct Comparison {
    std::string key, end{};
    bool is_creation = false;  // else the last change
    bool is_greater = false;   // else equal
    std::uint64_t revision = 0;
  };
  struct Step {
    std::string key, value{};
    EtcdLease lease = 0;
    bool deletes = false;
  };

  struct Reading {
    std::string key, end{};
  };

  EtcdTransaction& compare(Comparison comparison);
  EtcdTransaction& read(Reading reading);

  std::vector<Comparison> comparisons_;
  std::vector<Step> steps_;
  std::vector<Reading> read_;
};

struct EtcdOutcome {
  bool held = false;
  std::uint64_t revision = 0;
  // Of what was read, or deleted: for each such step one at most, nothing where there was nothing.
  std::vector<std::vector<EtcdEntry>> entries;
};

struct EtcdLeaseTime {
  std::chrono::seconds left, granted;
};

struct EtcdAccess {
  std::vector<HttpEndpoint> endpoints;  // of one cluster: where one does not answer the next one is asked
  std::shared_ptr<HttpNetwork> network = std::make_shared<HttpNetwork>();
  std::string user{}, password{};  // empty: without a login
  std::chrono::milliseconds timeout{5000};
};

// The end of a range that has all keys that begin with the prefix.
std::string end_of_prefix(std::string prefix);

class EtcdClient {
 public:
  explicit EtcdClient(EtcdAccess access) : access_(std::move(access)) {}

  // The keys from `begin` on and below `end`, as they were at the revision; 0: as they are, agreed by the cluster.
  Expected<EtcdRange, EtcdFault> range(const std::string& begin, const std::string& end, std::size_t most,
                                       std::uint64_t revision = 0);
  Expected<EtcdOutcome, EtcdFault> commit(const EtcdTransaction& transaction);
  Expected<EtcdLease, EtcdFault> grant(std::chrono::seconds time);
  // no_lease: it ran out.
  Expected<void, EtcdFault> keep_alive(EtcdLease lease);
  // no_lease: there is none, or none any more.
  Expected<EtcdLeaseTime, EtcdFault> time_of(EtcdLease lease);

  std::chrono::milliseconds timeout() const { return access_.timeout; }
  // The one that is asked.
  HttpEndpoint endpoint() const;
  // Calls that wait fail, now and from now on. Thread: any.
  void stop();

 private:
  friend class EtcdWatch;

  // Whether doing it twice does no harm.
  enum class Repeat : bool { no, yes };

  Expected<std::string, EtcdFault> call(const std::string& path, const std::string& json, Repeat repeat);
  // With a login where etcd asks for one.
  Expected<HttpReply, HttpFault> ask(const std::string& path, const std::string& json, Repeat repeat, Time deadline);
  Expected<HttpReply, HttpFault> ask_as_known(const std::string& path, const std::string& json, Repeat repeat,
                                              Time deadline);
  Expected<HttpReply, HttpFault> ask_endpoint(const HttpRequest& request);
  Expected<HttpReply, HttpFault> log_in(Time deadline);
  void forget_token();
  Time latest_end() const { return os::now() + access_.timeout; }
  HttpRequest request_of(const std::string& path, const std::string& json, Time deadline) const;
  std::shared_ptr<HttpConnection> take_connection();
  std::shared_ptr<HttpConnection> idle_connection();  // none: has to be made. With mutex_ held
  void give_back(std::shared_ptr<HttpConnection> connection);
  void try_another_endpoint(const HttpEndpoint& failed);
  std::string token() const;

  const EtcdAccess access_;

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<HttpConnection>> idle_;  // guarded by mutex_
  std::vector<std::weak_ptr<HttpConnection>> lent_;  // guarded by mutex_; those that calls wait at, and some ended ones
  bool is_stopped_ = false;                          // guarded by mutex_
  std::size_t endpoint_ = 0;                         // guarded by mutex_
  std::string token_;                                // guarded by mutex_
};

// The changes below a prefix, as they happen.
// Threads: one at a time, but for stop().
class EtcdWatch {
 public:
  explicit EtcdWatch(EtcdClient& client) : client_(client), connection_(client.endpoint(), client.access_.network) {}

  const HttpEndpoint& endpoint() const { return connection_.endpoint(); }

  Expected<void, EtcdFault> open(const std::string& prefix, std::uint64_t first_revision);
  // Waits for the next ones. compacted: what was asked for etcd has forgotten.
  Expected<std::vector<EtcdEvent>, EtcdFault> next();
  // Whatever waits ends, now and from now on. Thread: any.
  void stop() { connection_.stop(); }

 private:
  EtcdFault fault_of(const std::string& text);

  EtcdClient& client_;
  HttpConnection connection_;
};

}  // namespace corelane::nameserver
