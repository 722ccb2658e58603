#include "services/nameserver/stores/http/http_connection.h"

// Asio 1.74 uses std::exchange in C++20 without including <utility>, so that comes first.
// clang-format off
#include <utility>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
// clang-format on

#include <array>
#include <optional>

#include "services/nameserver/stores/http/net_stream.h"

namespace corelane::nameserver {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;
using Parser = http::response_parser<http::string_body>;

std::string message_of(const HttpRequest& request, const HttpEndpoint& endpoint) {
  std::string message = "POST " + request.path + " HTTP/1.1\r\nHost: " + endpoint.text() + "\r\n";
  if (!request.authorization.empty()) message += "Authorization: " + request.authorization + "\r\n";
  message += request.more_headers + "Content-Type: application/json\r\nContent-Length: ";
  return message + std::to_string(request.body.size()) + "\r\n\r\n" + request.body;
}

HttpReply reply_of(Parser& parser) {
  return {.status = parser.get().result_int(), .body = std::move(parser.get().body())};
}

}  // namespace

struct HttpConnection::Parts {
  const HttpEndpoint endpoint;
  const std::shared_ptr<HttpNetwork> network;
  NetStream stream{};
  std::string received{};            // and not parsed yet
  std::optional<Parser> streamed{};  // the reply that is streamed

  HttpFault fault(const std::string& why, bool was_sent = false, bool is_too_long = false) {
    close();
    return {endpoint.text() + ": " + why, was_sent, is_too_long};
  }
  void close() {
    stream.close();
    streamed.reset();
    received.clear();
  }

  Expected<void, HttpFault> send(const HttpRequest& request) {
    if (!stream.is_connected())
      if (const auto done = stream.connect(endpoint, network->lookup, network->tls.get(), request.connect_until); !done)
        return fault(done.error());
    const auto sent = stream.write(message_of(request, endpoint), request.answer_until);
    if (!sent) return fault(sent.error(), true);
    return {};
  }

  // Feeds the received bytes to the parser. Returns false if it used none and needs more.
  Expected<bool, HttpFault> parse(Parser& parser) {
    if (received.empty()) return false;
    error_code code;
    const std::size_t used = parser.put(boost::asio::buffer(received), code);
    received.erase(0, used);
    if (code == http::error::body_limit) return fault(code.message(), true, true);
    if (code && code != http::error::need_more) return fault(code.message(), true);
    return used > 0;
  }
  Expected<void, HttpFault> receive(Parser& parser, Time deadline) {
    std::array<char, 16'384> some;
    const auto count = stream.read_some(some, deadline);
    if (!count) return fault(count.error(), true);
    received.append(some.data(), *count);
    if (*count != 0) return {};
    error_code code;
    if (parser.got_some()) parser.put_eof(code);  // a reply may end with the connection
    if (code || !parser.is_done()) return fault("it closed the connection", true);
    return {};
  }
  // Reads until enough(parser), or until the reply ends.
  template <typename Enough>
  Expected<void, HttpFault> read(Parser& parser, Time deadline, Enough&& enough) {
    while (!parser.is_done() && !enough(parser)) {
      const auto parsed = parse(parser);
      if (!parsed) return parsed.error();
      if (*parsed) continue;
      if (const auto done = receive(parser, deadline); !done) return done;
    }
    return {};
  }
  Expected<HttpReply, HttpFault> read_reply(Parser& parser, Time deadline) {
    const auto done = read(parser, deadline, [](const Parser&) { return false; });
    if (!done) return done.error();
    HttpReply reply = reply_of(parser);
    if (!parser.get().keep_alive()) close();
    return reply;
  }
};

HttpConnection::HttpConnection(HttpEndpoint endpoint, std::shared_ptr<HttpNetwork> network)
    : parts_(new Parts{std::move(endpoint), std::move(network)}) {}
HttpConnection::~HttpConnection() = default;

const HttpEndpoint& HttpConnection::endpoint() const { return parts_->endpoint; }

Expected<HttpReply, HttpFault> HttpConnection::post(const HttpRequest& request) {
  if (const auto sent = parts_->send(request); !sent) return sent.error();
  Parser parser;
  parser.body_limit(parts_->network->longest_reply);
  parser.eager(true);
  return parts_->read_reply(parser, request.answer_until);
}

Expected<HttpReply, HttpFault> HttpConnection::open_stream(const HttpRequest& request) {
  if (const auto sent = parts_->send(request); !sent) return sent.error();
  Parser& parser = parts_->streamed.emplace();
  parser.body_limit(boost::none);
  parser.eager(true);
  const auto done =
      parts_->read(parser, request.answer_until, [](const Parser& begun) { return begun.is_header_done(); });
  if (!done) return done.error();
  if (parser.get().result() == http::status::ok) return HttpReply{.status = 200, .body = {}};
  auto refusal = parts_->read_reply(parser, request.answer_until);
  parts_->close();
  return refusal;
}

Expected<std::string, HttpFault> HttpConnection::next_line() {
  if (!parts_->streamed) return HttpFault{parts_->endpoint.text() + ": not connected"};
  Parser& parser = *parts_->streamed;
  std::string& body = parser.get().body();
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = body.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = body.substr(0, end);
      body.erase(0, end + 1);
      return line;
    }
    searched = body.size();
    if (searched > longest_line) return parts_->fault("a line is too long", true, true);
    if (parser.is_done()) return parts_->fault("it ended the stream");
    const auto more = parts_->read(parser, never, [&](const Parser&) { return body.size() > searched; });
    if (!more) return more.error();
  }
}

bool HttpConnection::is_idle() const { return parts_->received.empty() && parts_->stream.is_idle(); }
void HttpConnection::stop() { parts_->stream.stop(); }

}  // namespace corelane::nameserver
