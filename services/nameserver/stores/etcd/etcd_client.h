// EtcdClient runs etcd's operations on keys, leases and logins. It uses the HTTP gateway of etcd 3.4 (POST of JSON to
// /v3/...). Keys and values are any bytes.
//
// Threads: any, in parallel. Bound: each call takes at most EtcdAccess::timeout, with its login and all endpoints that
// it tries.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/thread_safety.h"
#include "orb/os/clock.h"
#include "orb/os/mutex.h"
#include "services/nameserver/stores/http/http_connection.h"

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
  EtcdLease lease = 0;         // the lease that it is attached to
};

struct EtcdEvent {
  bool is_deletion = false;
  EtcdEntry entry;
};

struct EtcdRange {
  std::vector<EtcdEntry> entries;
  std::uint64_t revision = 0;  // the store's revision when this was read
  bool has_more = false;
};

// A transaction: conditions, the steps to do if all hold, and what to read if one does not hold.
class EtcdTransaction {
 public:
  EtcdTransaction& if_absent(std::string key) { return compare({.key = std::move(key), .is_creation = true}); }
  EtcdTransaction& if_present(std::string key);
  EtcdTransaction& if_nothing_below(std::string prefix);
  // `modified` 0 means that the key is absent.
  EtcdTransaction& if_unchanged(std::string key, std::uint64_t modified);
  EtcdTransaction& then_put(std::string key, std::string value, EtcdLease lease = 0);
  EtcdTransaction& then_delete(std::string key);
  EtcdTransaction& else_get(std::string key) { return read({.key = std::move(key)}); }
  EtcdTransaction& else_get_first_below(std::string prefix);

  std::string json() const;

 private:
  struct Comparison {
    std::string key, end{};
    bool is_creation = false;  // compares the creation; otherwise the last change
    bool is_greater = false;   // compares for greater; otherwise for equal
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
  // What was read or deleted: at most one entry for each such step, and none if there was nothing.
  std::vector<std::vector<EtcdEntry>> entries;
};

struct EtcdLeaseTime {
  std::chrono::seconds left, granted;
};

struct EtcdAccess {
  std::vector<HttpEndpoint> endpoints;  // of one cluster; if one does not answer, the next is tried
  std::shared_ptr<HttpNetwork> network = std::make_shared<HttpNetwork>();
  std::string user{}, password{};  // empty: without a login
  std::chrono::milliseconds timeout{5000};
};

// Returns the end of the range of all keys that begin with the prefix.
std::string end_of_prefix(std::string prefix);

class EtcdClient {
 public:
  explicit EtcdClient(EtcdAccess access) : access_(std::move(access)) {}

  // Reads the keys from `begin` up to `end`, without `end`, as they were at the revision. With revision 0, reads the
  // present state that the cluster agrees on.
  Expected<EtcdRange, EtcdFault> range(const std::string& begin, const std::string& end, std::size_t most,
                                       std::uint64_t revision = 0);
  Expected<EtcdOutcome, EtcdFault> commit(const EtcdTransaction& transaction);
  Expected<EtcdLease, EtcdFault> grant(std::chrono::seconds time);
  // no_lease: the lease has expired.
  Expected<void, EtcdFault> keep_alive(EtcdLease lease);
  // no_lease: the lease does not exist or has expired.
  Expected<EtcdLeaseTime, EtcdFault> time_of(EtcdLease lease);

  std::chrono::milliseconds timeout() const { return access_.timeout; }
  // Returns the endpoint in use.
  HttpEndpoint endpoint() const;
  // Makes all waiting calls fail, now and from now on. Thread: any.
  void stop();

 private:
  friend class EtcdWatch;

  // Says whether a request may be sent twice without harm.
  enum class Repeat : bool { no, yes };

  Expected<std::string, EtcdFault> call(const std::string& path, const std::string& json, Repeat repeat);
  // Sends a request, and logs in if etcd asks for it.
  Expected<HttpReply, HttpFault> ask(const std::string& path, const std::string& json, Repeat repeat, Time deadline);
  Expected<HttpReply, HttpFault> ask_as_known(const std::string& path, const std::string& json, Repeat repeat,
                                              Time deadline);
  Expected<HttpReply, HttpFault> ask_endpoint(const HttpRequest& request);
  Expected<HttpReply, HttpFault> log_in(Time deadline);
  void forget_token();
  Time latest_end() const { return os::now() + access_.timeout; }
  HttpRequest request_of(const std::string& path, const std::string& json, Time deadline) const;
  std::shared_ptr<HttpConnection> take_connection();
  // Returns nullptr if a connection must be made.
  std::shared_ptr<HttpConnection> idle_connection() CORELANE_REQUIRES(mutex_);
  void give_back(std::shared_ptr<HttpConnection> connection);
  void try_another_endpoint(const HttpEndpoint& failed);
  std::string token() const;

  const EtcdAccess access_;

  mutable os::Mutex mutex_;
  std::vector<std::shared_ptr<HttpConnection>> idle_ CORELANE_GUARDED_BY(mutex_);
  // Connections of running calls, and some expired ones.
  std::vector<std::weak_ptr<HttpConnection>> lent_ CORELANE_GUARDED_BY(mutex_);
  bool is_stopped_ CORELANE_GUARDED_BY(mutex_) = false;
  std::size_t endpoint_ CORELANE_GUARDED_BY(mutex_) = 0;
  std::string token_ CORELANE_GUARDED_BY(mutex_);
};

// EtcdWatch reports the changes below a prefix as they happen.
// Threads: one at a time, except for stop().
class EtcdWatch {
 public:
  explicit EtcdWatch(EtcdClient& client) : client_(client), connection_(client.endpoint(), client.access_.network) {}

  const HttpEndpoint& endpoint() const { return connection_.endpoint(); }

  Expected<void, EtcdFault> open(const std::string& prefix, std::uint64_t first_revision);
  // Waits for the next changes. compacted: etcd has removed the requested revisions from its history.
  Expected<std::vector<EtcdEvent>, EtcdFault> next();
  // Ends all waits, now and from now on. Thread: any.
  void stop() { connection_.stop(); }

 private:
  EtcdFault fault_of(const std::string& text);

  EtcdClient& client_;
  HttpConnection connection_;
};

}  // namespace corelane::nameserver
