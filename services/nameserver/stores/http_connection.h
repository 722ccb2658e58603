// HttpConnection: one connection to an HTTP server that is asked by POST: for a reply, or for one that goes on line by
// line. HTTP/1.1 over TCP or TLS.
//
// Threads: one at a time, but for stop(). Waits for the network, and for the resolver of names.
#pragma once

#include <memory>
#include <string>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "services/nameserver/stores/host_lookup.h"

namespace corelane::nameserver {

class TlsContext;

// What connections to one service share.
struct HttpNetwork {
  HostLookup lookup{};
  std::shared_ptr<const TlsContext> tls{};  // none: over TCP alone
  std::size_t longest_reply = 64u << 20;    // bytes; a longer one is a fault, is_too_long
};

struct HttpRequest {
  std::string path, body;
  std::string authorization{};                       // the header of that name; empty: none
  std::string more_headers{};                        // each with its "\r\n"
  Time connect_until = never, answer_until = never;  // the latter from the connection to the last byte
};

struct HttpReply {
  unsigned status = 0;
  std::string body;

  bool ok() const noexcept { return status == 200; }
};

struct HttpFault {
  std::string text;
  bool was_sent = false;     // the request may have been carried out
  bool is_too_long = false;  // the reply: it was not read to its end
};

class HttpConnection {
 public:
  explicit HttpConnection(HttpEndpoint endpoint,
                          std::shared_ptr<HttpNetwork> network = std::make_shared<HttpNetwork>());
  ~HttpConnection();

  const HttpEndpoint& endpoint() const;

  // Connects where there is no connection.
  Expected<HttpReply, HttpFault> post(const HttpRequest& request);

  // A reply without end: its status, and of a refusal the body.
  Expected<HttpReply, HttpFault> open_stream(const HttpRequest& request);
  // Its next line, without the newline. Waits until there is one, the server is gone or stop() was called.
  Expected<std::string, HttpFault> next_line();

  // Whether it is connected and the server has neither closed it nor said something unasked.
  bool is_idle() const;
  // Whatever waits ends with a fault, now and from now on. Thread: any.
  void stop();

  static constexpr std::size_t longest_line = 64u << 20;

 private:
  struct Parts;  // Beast's parser: slow to compile, and no part of any interface

  const std::unique_ptr<Parts> parts_;
};

}  // namespace corelane::nameserver
