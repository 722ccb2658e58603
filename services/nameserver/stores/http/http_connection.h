// HttpConnection is one connection to an HTTP server, for POST requests. A reply comes whole, or as a stream of lines.
// HTTP/1.1 over TCP or TLS.
//
// Threads: one at a time, except for stop(). Waits for the network and for the resolver of names.
//
// The folder services/nameserver/stores/http sends HTTP requests over TCP or TLS.
#pragma once

#include <memory>
#include <string>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "services/nameserver/stores/http/host_lookup.h"

namespace corelane::nameserver {

class TlsContext;

// What all connections to one service share.
struct HttpNetwork {
  HostLookup lookup{};
  std::shared_ptr<const TlsContext> tls{};  // nullptr: TCP without TLS
  std::size_t longest_reply = 64u << 20;    // bytes; a longer reply is a fault with is_too_long
};

struct HttpRequest {
  std::string path, body;
  std::string authorization{};                       // value of that header; empty: none
  std::string more_headers{};                        // each ends with "\r\n"
  Time connect_until = never, answer_until = never;  // answer_until: from the connection to the last byte
};

struct HttpReply {
  unsigned status = 0;
  std::string body;

  bool ok() const noexcept { return status == 200; }
};

struct HttpFault {
  std::string text;
  bool was_sent = false;     // the server may have executed the request
  bool is_too_long = false;  // the reply was not read to its end
};

class HttpConnection {
 public:
  explicit HttpConnection(HttpEndpoint endpoint,
                          std::shared_ptr<HttpNetwork> network = std::make_shared<HttpNetwork>());
  ~HttpConnection();

  const HttpEndpoint& endpoint() const;

  // Sends the request and returns the reply. Connects if there is no connection.
  Expected<HttpReply, HttpFault> post(const HttpRequest& request);

  // Starts a reply that is a stream. Returns its status, and the body of a refusal.
  Expected<HttpReply, HttpFault> open_stream(const HttpRequest& request);
  // Returns the stream's next line, without the newline. Waits until there is one, the server closes, or stop().
  Expected<std::string, HttpFault> next_line();

  // Returns whether it is connected, and the server has neither closed it nor sent data without a request.
  bool is_idle() const;
  // Makes all waits fail, now and from now on. Thread: any.
  void stop();

  static constexpr std::size_t longest_line = 64u << 20;

 private:
  struct Parts;  // holds Beast's parser, which is slow to compile and not part of the interface

  const std::unique_ptr<Parts> parts_;
};

}  // namespace corelane::nameserver
