// HostLookup: the addresses of hosts. The system's resolver knows no deadline, so it is asked on a thread of its own,
// one for each host at most, which is left to itself when the time is over; what it said last is kept for the times
// when it says nothing.
//
// Threads: any.
#pragma once

#include <sys/socket.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"

namespace corelane::nameserver {

struct HttpEndpoint {
  std::string host, port;

  std::string text() const { return (host.find(':') == host.npos ? host : '[' + host + ']') + ":" + port; }
  friend bool operator==(const HttpEndpoint&, const HttpEndpoint&) = default;
};

struct HostAddress {
  sockaddr_storage native{};
  socklen_t length = 0;
};
using HostAddresses = std::vector<HostAddress>;

class HostLookup {
 public:
  // What knows addresses; waits as long as it likes. What it throws is its failure. Thread: any, several at once, also
  // after the HostLookup's end.
  using Resolver = std::function<Expected<HostAddresses, std::string>(const HttpEndpoint&)>;

  HostLookup();
  explicit HostLookup(Resolver resolver);
  ~HostLookup();

  // Addresses of the host, as they were less than a minute ago or are now; where the resolver fails or takes longer
  // than until `deadline`, as they were when it last said any. Ends early, as if at its deadline, once there is
  // something to read at `stop`.
  Expected<HostAddresses, std::string> find(const HttpEndpoint& endpoint, Time deadline, int stop);
  // They were of no use: the resolver is to be asked again.
  void distrust(const HttpEndpoint& endpoint);

 private:
  struct Question;
  struct Known {
    HostAddresses addresses;
    Time good_until{};
    std::shared_ptr<Question> asked{};  // where the resolver is being asked
  };

  std::shared_ptr<Question> ask(const HttpEndpoint& endpoint);
  Expected<HostAddresses, std::string> take(const HttpEndpoint& endpoint, const std::shared_ptr<Question>& question);

  const Resolver resolver_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;  // guarded by mutex_; by endpoint
};

}  // namespace corelane::nameserver
