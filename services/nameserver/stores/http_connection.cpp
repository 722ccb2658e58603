#include "services/nameserver/stores/http_connection.h"

// Asio 1.74 uses std::exchange in C++20 without including <utility>, so that comes first.
// clang-format off: the order matters
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <utility>
// clang-format on

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <atomic>
#include <optional>

namespace corelane::nameserver {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using Parser = http::response_parser<http::string_body>;

// A server whose machine is gone is found out in some ten seconds.
void watch_over(asio::ip::tcp::socket& socket) {
  const auto set = [&](int level, int option, int value) {
    setsockopt(socket.native_handle(), level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 4);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 2);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
}

http::request<http::string_body> message_of(const HttpRequest& request, const HttpEndpoint& endpoint) {
  http::request<http::string_body> message(http::verb::post, request.path, 11, request.body);
  message.set(http::field::host, endpoint.text());
  message.set(http::field::content_type, "application/json");
  if (!request.authorization.empty()) message.set(http::field::authorization, request.authorization);
  message.prepare_payload();
  return message;
}

HttpReply reply_of(Parser& parser) {
  return {.status = parser.get().result_int(), .body = std::move(parser.get().body())};
}

}  // namespace

struct HttpConnection::Parts {
  HttpEndpoint endpoint;
  asio::io_context io;
  beast::tcp_stream stream{io};
  beast::flat_buffer buffer;
  std::optional<Parser> streamed;  // the reply that goes on
  bool is_connected = false;
  std::atomic<bool> is_stopped{false};

  explicit Parts(HttpEndpoint to) : endpoint(std::move(to)) {}

  // Runs one operation to its end; start() is given what it has to call then.
  template <typename Start>
  error_code run(Start&& start) {
    // PAIR http.stopped: acquire here <- release in stop(). A stop that came before is seen here, a later one finds the
    // operation started: what it posts runs below.
    if (is_stopped.load(std::memory_order_acquire)) return asio::error::operation_aborted;
    error_code result;
    start([&result](error_code code, auto&&...) { result = code; });
    io.restart();
    io.run();
    return result;
  }

  HttpFault fault(const error_code& code, bool was_sent = false) {
    close();
    return {endpoint.text() + ": " + code.message(), was_sent};
  }
  void close() {
    error_code ignored;
    stream.socket().close(ignored);
    is_connected = false;
    streamed.reset();
    buffer.clear();
  }

  Expected<void, HttpFault> connect() {
    if (is_connected) return {};
    error_code code;
    const auto addresses = asio::ip::tcp::resolver(io).resolve(endpoint.host, endpoint.port, code);
    if (!code) code = run([&](auto done) { stream.async_connect(addresses, std::move(done)); });
    if (code) return fault(code);
    watch_over(stream.socket());
    is_connected = true;
    return {};
  }
  Expected<void, HttpFault> send(const HttpRequest& request, std::chrono::milliseconds timeout) {
    stream.expires_after(timeout);
    if (auto connected = connect(); !connected) return connected;
    const auto message = message_of(request, endpoint);
    const error_code code = run([&](auto done) { http::async_write(stream, message, std::move(done)); });
    if (code) return fault(code, true);
    return {};
  }
};

HttpConnection::HttpConnection(HttpEndpoint endpoint) : parts_(std::make_unique<Parts>(std::move(endpoint))) {}
HttpConnection::~HttpConnection() = default;

Expected<HttpReply, HttpFault> HttpConnection::post(const HttpRequest& request, std::chrono::milliseconds timeout) {
  if (const auto sent = parts_->send(request, timeout); !sent) return sent.error();
  Parser parser;
  parser.body_limit(longest_reply);
  const error_code code =
      parts_->run([&](auto done) { http::async_read(parts_->stream, parts_->buffer, parser, std::move(done)); });
  if (code) return parts_->fault(code, true);
  if (!parser.get().keep_alive()) parts_->close();
  return reply_of(parser);
}

Expected<HttpReply, HttpFault> HttpConnection::open_stream(const HttpRequest& request,
                                                           std::chrono::milliseconds timeout) {
  if (const auto sent = parts_->send(request, timeout); !sent) return sent.error();
  Parser& parser = parts_->streamed.emplace();
  parser.body_limit(boost::none);
  parser.eager(true);
  error_code code =
      parts_->run([&](auto done) { http::async_read_header(parts_->stream, parts_->buffer, parser, std::move(done)); });
  if (code) return parts_->fault(code, true);
  if (parser.get().result() == http::status::ok) {
    parts_->stream.expires_never();
    return HttpReply{.status = 200, .body = {}};
  }
  code = parts_->run([&](auto done) { http::async_read(parts_->stream, parts_->buffer, parser, std::move(done)); });
  HttpReply refusal = reply_of(parser);
  parts_->close();
  return refusal;
}

Expected<std::string, HttpFault> HttpConnection::next_line() {
  if (!parts_->streamed) return HttpFault{parts_->endpoint.text() + ": not connected"};
  std::string& body = parts_->streamed->get().body();
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = body.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = body.substr(0, end);
      body.erase(0, end + 1);
      return line;
    }
    searched = body.size();
    if (searched > longest_line) return parts_->fault(http::make_error_code(http::error::body_limit));
    if (parts_->streamed->is_done()) return parts_->fault(http::make_error_code(http::error::end_of_stream));
    const error_code code = parts_->run(
        [&](auto done) { http::async_read_some(parts_->stream, parts_->buffer, *parts_->streamed, std::move(done)); });
    if (code) return parts_->fault(code);
  }
}

bool HttpConnection::is_idle() const {
  char unasked = 0;
  return parts_->is_connected &&
         recv(parts_->stream.socket().native_handle(), &unasked, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK);
}

void HttpConnection::stop() {
  // PAIR http.stopped: release here -> acquire in Parts::run(). What waits already ends on its own thread.
  parts_->is_stopped.store(true, std::memory_order_release);
  // Closed, not cancelled: an operation may be between two of its steps.
  asio::post(parts_->io, [this] { parts_->stream.close(); });
}

}  // namespace corelane::nameserver
