// HostLookup finds the addresses of hosts within a deadline. The system's resolver has no deadline. So a separate
// thread asks it, at most one for each host, and is not waited for after the deadline. The last answer is kept, and
// used when the resolver gives none.
//
// Threads: any.
#pragma once

#include <sys/socket.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/mutex.h"

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
  // Finds addresses; may block without limit. An exception counts as a failure. Thread: any, several at once, even
  // after the HostLookup's end.
  using Resolver = std::function<Expected<HostAddresses, std::string>(const HttpEndpoint&)>;

  HostLookup();
  explicit HostLookup(Resolver resolver);
  ~HostLookup();

  // Returns the host's addresses, at most a minute old. If the resolver fails or does not answer until `deadline`,
  // returns the last addresses that it gave. Returns early, as at the deadline, when `stop` becomes readable.
  Expected<HostAddresses, std::string> find(const HttpEndpoint& endpoint, Time deadline, int stop);
  // Notes that the addresses did not work. The next find() asks the resolver again.
  void distrust(const HttpEndpoint& endpoint);

 private:
  struct Question;
  struct Known {
    HostAddresses addresses;
    Time good_until{};
    std::shared_ptr<Question> asked{};  // set while the resolver is being asked
  };

  std::shared_ptr<Question> ask(const HttpEndpoint& endpoint);
  Expected<HostAddresses, std::string> take(const HttpEndpoint& endpoint, const std::shared_ptr<Question>& question);

  const Resolver resolver_;
  os::Mutex mutex_;
  std::map<std::string, Known> known_ CORELANE_GUARDED_BY(mutex_);  // by endpoint
};

}  // namespace corelane::nameserver
