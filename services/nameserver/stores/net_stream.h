// NetStream: bytes to and from a host, over TCP or TLS over TCP. Every wait has a deadline, and stop() ends it.
//
// Threads: one at a time, but for stop().
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/os/fd.h"
#include "services/nameserver/stores/host_lookup.h"
#include "services/nameserver/stores/tls.h"

namespace corelane::nameserver {

class NetStream {
 public:
  NetStream();

  // To one of the host's addresses, tried in turn. Without `tls`: TCP alone.
  Expected<void, std::string> connect(const HttpEndpoint& endpoint, HostLookup& lookup, const TlsContext* tls,
                                      Time deadline);
  void close();
  bool is_connected() const { return static_cast<bool>(socket_); }

  // At least one byte; 0: the other end has closed it.
  Expected<std::size_t, std::string> read_some(std::span<char> bytes, Time deadline);
  Expected<void, std::string> write(std::string_view bytes, Time deadline);
  // Whether the other end has neither closed it nor said something unasked.
  bool is_idle() const;
  // Whatever waits ends with a fault, now and from now on. Thread: any.
  void stop();

 private:
  Expected<void, std::string> connect_to(const HostAddress& address, Time deadline);
  Expected<void, std::string> start_tls(const HttpEndpoint& endpoint, const TlsContext& tls, Time deadline);
  std::optional<std::string> wait(short events, Time deadline) const;
  template <typename Try>
  Expected<std::size_t, std::string> until_done(Try&& attempt, Time deadline);

  const os::Fd stopped_;  // readable once it is
  os::Fd socket_;
  std::unique_ptr<TlsSession> tls_;  // over socket_
};

}  // namespace corelane::nameserver
