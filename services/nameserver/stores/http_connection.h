// HttpConnection: one connection to an HTTP server that is asked by POST: for a reply, or for one that goes on line by
// line. HTTP/1.1 over TCP, without TLS.
//
// Threads: one at a time, but for stop(). Waits for the network, and for the resolver of names.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "orb/base/expected.h"

namespace corelane::nameserver {

struct HttpEndpoint {
  std::string host, port;

  std::string text() const { return host + ":" + port; }
};

struct HttpRequest {
  std::string path, body;
  std::string authorization{};  // the header of that name; empty: none
};

struct HttpReply {
  unsigned status = 0;
  std::string body;

  bool ok() const noexcept { return status == 200; }
};

struct HttpFault {
  std::string text;
  bool was_sent = false;  // the request may have been carried out
};

class HttpConnection {
 public:
  explicit HttpConnection(HttpEndpoint endpoint);
  ~HttpConnection();

  // Connects where there is no connection.
  Expected<HttpReply, HttpFault> post(const HttpRequest& request, std::chrono::milliseconds timeout);

  // A reply without end: its status, and of a refusal the body.
  Expected<HttpReply, HttpFault> open_stream(const HttpRequest& request, std::chrono::milliseconds timeout);
  // Its next line, without the newline. Waits until there is one, the server is gone or stop() was called.
  Expected<std::string, HttpFault> next_line();

  // Whether it is connected and the server has neither closed it nor said something unasked.
  bool is_idle() const;
  // Whatever waits ends with a fault, now and from now on. Thread: any.
  void stop();

  static constexpr std::size_t longest_line = 256u << 20, longest_reply = 256u << 20;

 private:
  struct Parts;  // Asio's: slow to compile, and no part of any interface

  const std::unique_ptr<Parts> parts_;
};

}  // namespace corelane::nameserver
