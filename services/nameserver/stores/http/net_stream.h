// NetStream sends and receives bytes over TCP, or over TLS on TCP. Every wait has a deadline, and stop() ends it.
//
// Threads: one at a time, except for stop().
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/os/fd.h"
#include "services/nameserver/stores/http/host_lookup.h"
#include "services/nameserver/stores/http/tls.h"

namespace corelane::nameserver {

class NetStream {
 public:
  NetStream();

  // Connects to one of the host's addresses, which it tries in turn. Without `tls`: TCP alone.
  Expected<void, std::string> connect(const HttpEndpoint& endpoint, HostLookup& lookup, const TlsContext* tls,
                                      Time deadline);
  void close();
  bool is_connected() const { return static_cast<bool>(socket_); }

  // Reads at least one byte. Returns 0 if the other end has closed.
  Expected<std::size_t, std::string> read_some(std::span<char> bytes, Time deadline);
  Expected<void, std::string> write(std::string_view bytes, Time deadline);
  // Returns whether the other end has neither closed nor sent data without a request.
  bool is_idle() const;
  // Makes all waits fail, now and from now on. Thread: any.
  void stop();

 private:
  Expected<void, std::string> connect_to(const HostAddress& address, Time deadline);
  Expected<void, std::string> start_tls(const HttpEndpoint& endpoint, const TlsContext& tls, Time deadline);
  std::optional<std::string> wait(short events, Time deadline) const;
  template <typename Try>
  Expected<std::size_t, std::string> until_done(Try&& attempt, Time deadline);

  const os::Fd stopped_;  // readable after stop()
  os::Fd socket_;
  std::unique_ptr<TlsSession> tls_;  // over socket_
};

}  // namespace corelane::nameserver
