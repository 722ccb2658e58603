#include "orb/core/reservation/reservation_wire.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "orb/cdr/codec.h"
#include "orb/giop/headers.h"
#include "orb/giop/limits.h"
#include "orb/os/clock.h"
#include "orb/os/peers/peer_trust.h"
#include "orb/os/socket_path.h"

namespace corelane::core {
namespace {

constexpr std::string_view reserved_key = "CorelaneReserved";
constexpr std::size_t longest_reply = 256 * 1024;
// Numbers of enumerators in reservation.idl.
constexpr std::uint32_t nearness_near = 1, siblings_idle = 0;

std::optional<ReservationWire::Held> decode_grant(cdr::Reader& body) {
  ReservationWire::Held held;
  bool waiting = false;
  std::uint32_t position = 0;
  std::vector<std::int16_t> cores;
  if (!body.read(held.id) || !body.read(waiting) || !body.read(position) || !cdr::decode(body, cores))
    return std::nullopt;
  for (const std::int16_t core : cores) held.cores.push_back({core});
  if (waiting || held.cores.empty()) return std::nullopt;
  return held;
}

// Decodes a user exception: Refused carries a cause, a reason and what would fit; Unknown carries nothing.
ReservationWire::Answer decode_refusal(cdr::Reader& body) {
  std::string type, reason, fits;
  std::uint32_t cause = 0;
  const bool named = cdr::decode(body, type);
  if (named && type.find("/Unknown:") != std::string::npos) return {.why = "it has ended", .decided = true};
  if (!named || type.find("/Refused:") == std::string::npos || !body.read(cause) || !cdr::decode(body, reason) ||
      !cdr::decode(body, fits))
    return {.why = "its answer cannot be read"};
  return {.why = reason + (fits.empty() ? "" : " (what would fit now: " + fits + ")"), .decided = true};
}

// The answer to own_cores has a boolean before the grant: whether the cores are newly granted.
ReservationWire::Answer answer_of(giop::Parsed<giop::ReplyHeader>& reply, bool to_own_cores) {
  if (reply.header.status == giop::ReplyStatus::no_exception) {
    bool anew = false;
    auto held = !to_own_cores || reply.body.read(anew) ? decode_grant(reply.body) : std::nullopt;
    if (held) held->anew = anew;
    return held ? ReservationWire::Answer{.held = std::move(held)}
                : ReservationWire::Answer{.why = "its answer cannot be read"};
  }
  if (reply.header.status == giop::ReplyStatus::user_exception) return decode_refusal(reply.body);
  return {.why = "it answered with a system exception; its log may say more"};
}

}  // namespace

Expected<ReservationWire, std::string> ReservationWire::connect(const std::string& path) {
  const auto address = os::unix_address(path);
  if (!address) return Unexpected{path + " is too long for a socket"};
  os::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || ::connect(socket.get(), address->generic(), address->length) != 0)
    return Unexpected{path + ": " + std::strerror(errno)};
  if (const auto why = os::why_not_trusted(socket.get()))
    return Unexpected{"the program at " + path + " " + *why + ", so it is not used"};
  return ReservationWire(std::move(socket));
}

void ReservationWire::begin(cdr::Writer& writer, std::string_view operation, bool answers) {
  giop::RequestHeader header;
  header.request_id = next_id_++;
  header.response_flags = answers ? giop::response::with_target : giop::response::none;
  header.target.object_key = std::as_bytes(std::span(reserved_key));
  header.operation = operation;
  giop::begin_request(writer, header);
}

bool ReservationWire::ask_for(std::uint16_t count, const std::vector<CoreId>& these) {
  cdr::Writer writer;
  begin(writer, "own_cores", true);
  writer.align(8);  // GIOP 1.2 aligns the body to 8 bytes
  std::vector<std::int16_t> numbers;
  for (const CoreId core : these) numbers.push_back(core.value);
  writer.write(count);
  cdr::encode(writer, numbers);
  writer.write(nearness_near);
  writer.write(siblings_idle);
  writer.write(std::uint64_t{0});  // 0: as long as the process lives
  writer.write(false);
  cdr::encode(writer, std::string_view("task cores of a Corelane server"));
  asks_for_own_ = true;
  return send(writer);
}

bool ReservationWire::look_at(std::uint64_t id) {
  cdr::Writer writer;
  begin(writer, "look", true);
  writer.align(8);
  writer.write(id);
  asks_for_own_ = false;
  return send(writer);
}

void ReservationWire::release(std::uint64_t id) {
  cdr::Writer writer;
  begin(writer, "release", false);
  writer.align(8);
  writer.write(id);
  (void)send(writer);
  waiting_ = false;
}

// A request is a few hundred bytes. If the socket does not take them at once, its server hangs.
bool ReservationWire::send(cdr::Writer& writer) {
  if (!giop::finish(writer)) return false;
  const Bytes bytes = writer.bytes();
  waiting_ = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
             static_cast<ssize_t>(bytes.size());
  return waiting_;
}

// Returns with the first bytes, or at the deadline. Returns false if the connection has ended or the reply is too long.
bool ReservationWire::receive(Time deadline) {
  std::byte part[4096];
  for (;;) {  // bound: the deadline
    const ssize_t count = recv(socket_.get(), part, sizeof part, MSG_DONTWAIT);
    if (count > 0) return input_.insert(input_.end(), part, part + count), input_.size() <= longest_reply;
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) return false;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - os::now());
    if (left.count() <= 0) return true;
    pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, static_cast<int>(left.count()));
  }
}

std::optional<ReservationWire::Answer> ReservationWire::take_answer() {
  if (input_.size() < giop::header_size) return std::nullopt;
  const auto header = giop::parse_header(Bytes(input_).first(giop::header_size));
  if (!header) return Answer{.why = "the program that listens there speaks no GIOP"};
  const std::size_t size = giop::header_size + header->body_size;
  if (input_.size() < size) return std::nullopt;
  const auto message = giop::parse_message(Bytes(input_).first(size));
  auto reply = message ? giop::parse_reply(*message, giop::Limits{})
                       : Expected<giop::Parsed<giop::ReplyHeader>>(message.error());
  Answer answer = reply ? answer_of(*reply, asks_for_own_) : Answer{.why = "its answer cannot be read"};
  input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(size));
  return answer;
}

ReservationWire::State ReservationWire::poll(Answer& answer, Duration patience) {
  const Time deadline = os::now() + patience;
  for (;;) {  // bound: the deadline
    if (auto found = take_answer()) {
      waiting_ = false;
      answer = std::move(*found);
      return State::answered;
    }
    const std::size_t had = input_.size();
    if (!receive(deadline)) return State::closed;
    if (input_.size() == had) return State::waiting;
  }
}

}  // namespace corelane::core
