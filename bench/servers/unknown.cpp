#include "bench/servers/unknown.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "bench/latency/load.h"
#include "bench/servers/orb_of.h"
#include "orb/base/contract.h"
#include "orb/cdr/writer.h"
#include "orb/corba/orb.h"
#include "orb/core/client/reference.h"
#include "orb/giop/assembler.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/headers.h"
#include "orb/os/clock.h"
#include "orb/transport/tcp/tcp.h"
#include "orb/transport/transport_kind.h"
#include "pingS.h"

namespace servers {
namespace {

using corelane::Bytes;
using namespace std::chrono_literals;
namespace giop = corelane::giop;

const corelane::Contract small_contract = corelane::make_contract(100ms, 1ms);
constexpr int requests_per_send = 32;

corelane::transport::Endpoint tcp_of(const corelane::core::Address& address) {
  for (const auto& endpoint : address.endpoints)
    if (endpoint.kind->is_iiop) return endpoint;
  throw std::runtime_error("the server does not listen at TCP");
}

CORBA::object_reference<Bench::Echo> echo_of(CORBA::ORB& orb, const std::string& address) {
  return IDL::traits<Bench::Echo>::narrow(orb.string_to_object(address));
}

// One connection without an ORB.
class Sender {
 public:
  Sender(corelane::transport::TcpTransport& tcp, const corelane::transport::Endpoint& to, Bytes key)
      : key_(key.begin(), key.end()) {
    auto stream = tcp.connect(to, corelane::os::now() + 10s);
    if (!stream) throw std::runtime_error("no connection to the server");
    stream_ = std::move(*stream);
  }

  // Admits a task over the connection and runs one job of it. From then on the server's real-time reader reads the
  // connection.
  void take_task() {
    const auto asked = giop::encode_contract({.contract = small_contract});
    corelane::cdr::Writer writer;
    begin(writer, "_corelane_admit", asked);
    writer.write_string("ping");
    send(writer);
    const giop::Message message = next();
    const auto reply = giop::parse_reply(message, {});
    const auto context = reply ? reply->header.contexts.find(giop::context::contract) : std::nullopt;
    if (!context) throw std::runtime_error("the flooding client's task was refused");
    const auto task = giop::encode_contract({.task = giop::decode_contract(*context)->task, .contract = {}});
    begin(writer, "ping", task);
    writer.write(std::int64_t{0});
    send(writer);
    (void)next();
  }

  // Sends until the process ends. Another thread reads the replies.
  void flood() {
    std::vector<std::byte> batch;
    for (int i = 0; i < requests_per_send; ++i) {
      corelane::cdr::Writer writer;
      begin(writer, "no_such_operation");
      if (!giop::finish(writer)) throw std::runtime_error("no request");
      batch.insert(batch.end(), writer.bytes().begin(), writer.bytes().end());
    }
    const std::jthread reads([this] {
      while (const auto got = stream_->receive(buffer_, corelane::never, {})) {
        if (*got == 0) break;
      }
    });
    const Bytes part = batch;
    for (std::uint64_t position = 0; stream_->send_by(corelane::never, std::span{&part, 1}, position);) {
    }
  }

 private:
  void begin(corelane::cdr::Writer& writer, std::string_view operation, std::optional<Bytes> contract = {}) {
    giop::RequestHeader header;
    header.request_id = ++last_id_;
    header.target.object_key = key_;
    header.operation = operation;
    const giop::ServiceContext context{giop::context::contract, contract.value_or(Bytes{})};
    giop::begin_request(writer, header, {&context, contract ? 1u : 0u}, giop::giop_1_2, corelane::native_order);
  }
  void send(corelane::cdr::Writer& writer) {
    if (!giop::finish(writer) || !stream_->send(writer.bytes())) throw std::runtime_error("the server is gone");
  }
  giop::Message next() {
    for (;;) {
      const auto message = assembler_.next(input_, corelane::os::now());
      if (message && *message) return **message;
      const auto got = stream_->receive(buffer_, corelane::os::now() + 10s, {});
      if (!message || !got || *got == 0) throw std::runtime_error("the server does not answer");
      input_ = Bytes(buffer_).first(*got);
    }
  }

  const std::vector<std::byte> key_;
  std::shared_ptr<corelane::transport::Connection> stream_;
  giop::Assembler assembler_;
  std::array<std::byte, 65536> buffer_;
  Bytes input_;
  std::uint32_t last_id_ = 0;
};

}  // namespace

int flood_with_unknown(const std::vector<std::string>& words) {
  auto orb = orb_of({});
  const auto echo = echo_of(*orb, words.at(0));
  const auto* const address = echo->_reference()->address();
  const auto reactor = std::move(*corelane::transport::Reactor::start());
  corelane::transport::TcpTransport tcp(*reactor);
  std::vector<std::unique_ptr<Sender>> senders;
  for (int i = 0; i < std::stoi(words.at(1)); ++i) {
    senders.push_back(std::make_unique<Sender>(tcp, tcp_of(*address), address->object_key));
    if (words.at(2) == "task") senders.back()->take_task();
  }
  latency::announce("flooding");
  std::vector<std::jthread> threads;
  for (const auto& sender : senders) threads.emplace_back([&sender] { sender->flood(); });
  return 0;
}

int call_without_contract(const std::vector<std::string>& words) {
  auto orb = orb_of({});
  const auto echo = echo_of(*orb, words.at(0));
  unsigned long answered = 0, failed = 0;
  const corelane::Time end = corelane::os::now() + std::chrono::seconds{std::stol(words.at(1))};
  while (corelane::os::now() < end) try {
      echo->ping(0);
      ++answered;
    } catch (const CORBA::SystemException&) {
      ++failed;
    }
  std::printf("%lu %lu\n", answered, failed);
  std::fflush(stdout);
  return 0;
}

}  // namespace servers
