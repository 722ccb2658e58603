#include "orb/giop/assembler.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <functional>
#include <utility>

#include "orb/base/minor.h"
#include "orb/giop/headers.h"

namespace corelane::giop {
namespace {

constexpr std::size_t fragment_header_size = 4;            // the request id of GIOP 1.2
constexpr std::size_t kept_capacity = 16 * 1024;           // capacity that an empty buffer keeps, outside any budget
constexpr std::size_t kept_in_exchange = 4 * 1024 * 1024;  // the same for a buffer that came by hand_over()
constexpr std::size_t claimed_at_once = 4 * 1024 * 1024;   // address space for a message that has just begun
constexpr std::size_t most_of_beginning = 4 * 1024;        // bytes of a refused message's body that are kept
constexpr std::size_t read_in_place_from = 16 * 1024;      // bytes; fewer are read together with what follows
constexpr std::size_t not_found = static_cast<std::size_t>(-1);

void empty(os::ByteBuffer& buffer) noexcept { buffer.capacity() > kept_capacity ? buffer.release() : buffer.clear(); }

// Reads the first ulong of the body. In GIOP 1.2 it is the request id of every message that has one.
bool read_id(const MessageHeader& header, Bytes message, std::uint32_t& id) noexcept {
  return Message{header, message}.body().read(id);
}

bool may_be_fragmented(const MessageHeader& header) noexcept {
  switch (header.type) {
    case MessageType::request:
    case MessageType::reply:
    case MessageType::fragment:
      return true;
    case MessageType::locate_request:
    case MessageType::locate_reply:
      return header.version == giop_1_2;
    default:
      return false;
  }
}

// Returns whether the waiting caller can be told that this message is too large.
bool may_be_refused(const MessageHeader& header) noexcept {
  return header.type == MessageType::request || header.type == MessageType::reply;
}

// Turns the first fragment's header into the header of the whole message.
void rewrite_header(MessageHeader& header, os::ByteBuffer& bytes) noexcept {
  header.more_fragments = false;
  header.body_size = static_cast<std::uint32_t>(bytes.size() - header_size);
  bytes.data()[6] = static_cast<std::byte>(header.order);
  const auto raw = cdr::to_raw(header.body_size, header.order != native_order);
  std::memcpy(bytes.data() + 8, &raw, sizeof raw);
}

}  // namespace

[[gnu::hot]] Expected<std::optional<Message>> Assembler::next(Bytes& input, Time now) {
  if (error_) return *error_;
  assert(may_take(input) && "only the present room() may be read into");
  if (!joined_.empty()) empty(joined_), settle();
  if (!pending_.empty() && expired(now)) return fail(ErrorKind::comm_failure, minor::bad_fragment);
  while (true) {  // bound: every round except the last consumes a fragment of the input
    if (std::exchange(delivered_, false)) empty(partial_), settle();
    const std::size_t skipped = std::min(skip_, input.size());
    input = input.subspan(skipped);
    skip_ -= skipped;
    if (skip_ > 0) return Whole{};
    const Expected<Bytes> whole = gather(input);
    if (!whole) return whole.error();
    if (whole->empty()) return Whole{};
    if (const std::uint32_t refusal = std::exchange(refusal_, 0); refusal != 0) {
      skip_ = header_size + header_.body_size - whole->size();
      return Whole{Message{header_, *whole, refusal}};
    }
    Expected<Whole> result = deliver(*whole, now);
    if (!result || *result) return result;
  }
}

[[gnu::hot]] bool Assembler::hand_over(Bytes message, os::ByteBuffer& to) noexcept {
  for (os::ByteBuffer* from : {&partial_, &joined_}) {
    if (from->empty() || message.data() != from->data()) continue;
    from->swap(to);
    from->clear();
    const bool is_kept = role_ == Role::client && from == &partial_ && from->capacity() <= kept_in_exchange;
    if (!is_kept && from->capacity() > kept_capacity) from->release();
    delivered_ = delivered_ && from != &partial_;
    settle();
    return true;
  }
  return false;
}

std::size_t Assembler::held_bytes() const noexcept {
  std::size_t sum = partial_.size() + joined_.size();
  for (const Pending& pending : pending_) sum += pending.bytes.size();  // bound: limits.fragmented_messages
  return sum;
}

// Returns the request that these bytes begin, once enough of its header has arrived.
ReassemblyQuota::Request Assembler::half_request(const MessageHeader& header, Bytes bytes) const noexcept {
  if (header.type != MessageType::request || bytes.size() <= header_size) return std::nullopt;
  const auto parsed = parse_beginning({header, bytes}, limits_);
  return parsed ? ReassemblyQuota::Request(*parsed) : std::nullopt;
}

// Makes room for `bytes` more bytes of a message that will have `goal` bytes. Once the buffer is long, growing it
// copies nothing. Returns false if there is no room.
bool Assembler::make_room(os::ByteBuffer& buffer, const MessageHeader& header, std::size_t bytes, std::size_t goal) {
  const std::size_t needed = buffer.size() + bytes;
  const bool grows = needed > buffer.capacity();
  const bool is_partial = &buffer == &partial_;
  if (is_partial && buffer.empty()) is_told_ = false;
  const ReassemblyQuota::Request request =
      grows || (is_partial && !is_told_) ? half_request(header, buffer) : ReassemblyQuota::Request{};
  if (is_partial && request) is_told_ = true;
  if (!hold(held_bytes() + bytes, request)) return refused_ = half_request(header, buffer), false;
  if (!grows) return true;
  const bool is_claimed = is_partial && goal >= os::ByteBuffer::mapped_from;
  const std::size_t wish = std::max(4 * buffer.capacity(), is_claimed ? claimed_at_once : 0);
  buffer.reserve(std::max(needed, std::min(wish, goal)));
  return true;
}

std::size_t Assembler::wanted() const noexcept {
  if (skip_ > 0) return skip_;
  if (delivered_ || partial_.empty()) return header_size;
  return (partial_.size() < header_size ? header_size : goal()) - partial_.size();
}

MutableBytes Assembler::room_of_partial(std::size_t most) noexcept {
  if (delivered_ || skip_ > 0) return {};
  const MutableBytes room = partial_.room();
  const std::size_t bytes = std::min(goal() - partial_.size(), room.size());
  return bytes < read_in_place_from ? MutableBytes{} : room.first(std::min(bytes, most));
}

bool Assembler::may_take(Bytes input) const noexcept {
  const std::byte* const begin = partial_.data();
  const bool is_apart = input.empty() || std::less_equal{}(begin + partial_.capacity(), input.data()) ||
                        std::less_equal{}(input.data() + input.size(), begin);
  if (is_apart) return true;
  if (delivered_ || skip_ > 0 || partial_.size() < header_size) return false;
  return input.data() == begin + partial_.size() && input.size() <= goal() - partial_.size();
}

// Returns the size of the current message, once its header has arrived.
std::size_t Assembler::goal() const noexcept {
  const std::size_t body = header_.body_size;
  return header_size + (refusal_ != 0 ? std::min(body, most_of_beginning) : body);
}

bool Assembler::expired(Time now) const noexcept {
  return std::any_of(pending_.begin(), pending_.end(),
                     [&](const Pending& p) { return now > p.since && now - p.since > limits_.fragment_age; });
}

Expected<std::optional<Message>> Assembler::fail(ErrorKind kind, std::uint32_t code) noexcept {
  error_ = Error{kind, Completion::no, code};
  pending_.clear();
  pending_bytes_ = 0;
  partial_.release();
  settle();
  return *error_;
}

void Assembler::drop() noexcept {
  joined_.release();
  (void)fail(ErrorKind::comm_failure, minor::closed_here);
}

// Returns the next whole message or fragment. It lies in the input if all of it is there, else in partial_. Empty: not
// whole yet, and the input is used up.
[[gnu::hot]] inline Expected<Bytes> Assembler::gather(Bytes& input) {
  if (partial_.empty() && input.size() >= header_size) {
    if (const auto good = check(input.first(header_size)); !good) return good.error();
    if (input.size() >= goal()) {
      const Bytes message = input.first(goal());
      input = input.subspan(goal());
      return message;
    }
  }
  if (partial_.size() < header_size) {
    const auto whole = take(input, header_size);
    if (!whole) return whole.error();
    if (!*whole) return Bytes{};
    if (const auto good = check(partial_); !good) return good.error();
  }
  const auto whole = take(input, goal());
  if (!whole) return whole.error();
  if (!*whole) return Bytes{};
  delivered_ = true;
  return Bytes(partial_);
}

// Moves bytes from the input until partial_ has `goal` bytes; returns whether it has.
Expected<bool> Assembler::take(Bytes& input, std::size_t goal) {
  const std::size_t count = std::min(input.size(), goal - partial_.size());
  if (!make_room(partial_, header_, count, goal)) return fail(ErrorKind::imp_limit, minor::half_messages).error();
  partial_.append(input.first(count));
  input = input.subspan(count);
  return partial_.size() == goal;
}

// Reads a header into header_ and checks it.
[[gnu::hot]] Expected<void> Assembler::check(Bytes bytes) noexcept {
  const Expected<MessageHeader> header = parse_header(bytes);
  if (!header) {
    if (header.error().minor == minor::bad_version) version_ = giop_1_2;
    return fail(header.error().kind, header.error().minor).error();
  }
  header_ = *header;
  version_ = header_.version;
  if (!accepts(header_.type)) return fail(ErrorKind::comm_failure, minor::bad_message_type).error();
  if (header_.more_fragments && !may_be_fragmented(header_))
    return fail(ErrorKind::comm_failure, minor::bad_fragment).error();
  refusal_ = 0;
  if (std::uint64_t{header_.body_size} + header_size <= limits_.message_size) return {};
  if (header_.more_fragments || !may_be_refused(header_))
    return fail(ErrorKind::imp_limit, minor::message_too_large).error();
  refusal_ = minor::message_too_large;
  return {};
}

bool Assembler::accepts(MessageType type) const noexcept {
  switch (type) {
    case MessageType::request:
    case MessageType::cancel_request:
    case MessageType::locate_request:
      return role_ != Role::client;
    case MessageType::reply:
    case MessageType::locate_reply:
      return role_ != Role::server;
    default:
      return true;
  }
}

[[gnu::hot]] inline Expected<std::optional<Message>> Assembler::deliver(Bytes bytes, Time now) {
  if (header_.type == MessageType::fragment) return continue_fragmented(bytes);
  if (header_.more_fragments) return start_fragmented(bytes, now);
  if (header_.type == MessageType::cancel_request) drop_cancelled(bytes);
  return Whole{Message{header_, bytes}};
}

std::size_t Assembler::find(Version version, std::uint32_t request_id) const noexcept {
  for (std::size_t i = 0; i < pending_.size(); ++i)  // bound: limits.fragmented_messages
    if (pending_[i].header.version == version && pending_[i].request_id == request_id) return i;
  return not_found;
}

Expected<std::optional<Message>> Assembler::start_fragmented(Bytes bytes, Time now) {
  std::uint32_t id = 0;
  if (header_.version == giop_1_2 && !read_id(header_, bytes, id))
    return fail(ErrorKind::comm_failure, minor::bad_fragment);
  if (find(header_.version, id) != not_found) return fail(ErrorKind::comm_failure, minor::bad_fragment);
  if (pending_.size() >= limits_.fragmented_messages || limits_.fragments < 1 ||
      pending_bytes_ + bytes.size() > limits_.fragment_bytes)
    return fail(ErrorKind::imp_limit, minor::bad_fragment);
  const ReassemblyQuota::Request request = half_request(header_, bytes);
  if (!hold(held_bytes() + bytes.size(), request)) {
    refused_ = request;
    return fail(ErrorKind::imp_limit, minor::half_messages);
  }
  pending_.push_back({id, header_, os::ByteBuffer(bytes), 1, now, request});
  pending_bytes_ += bytes.size();
  return Whole{};
}

Expected<std::optional<Message>> Assembler::continue_fragmented(Bytes bytes) {
  const bool has_id = header_.version == giop_1_2;
  std::uint32_t id = 0;
  if (has_id && !read_id(header_, bytes, id)) return fail(ErrorKind::comm_failure, minor::bad_fragment);
  const std::size_t index = find(header_.version, id);
  if (index == not_found || pending_[index].header.order != header_.order)
    return fail(ErrorKind::comm_failure, minor::bad_fragment);
  Pending& pending = pending_[index];
  if (pending.is_refused) {
    if (!header_.more_fragments) pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(index));
    return Whole{};
  }
  const Bytes data = bytes.subspan(header_size + (has_id ? fragment_header_size : 0));
  if (pending.bytes.size() + data.size() > limits_.message_size)
    return refuse_fragmented(index, minor::message_too_large);
  if (++pending.fragments > limits_.fragments || pending_bytes_ + data.size() > limits_.fragment_bytes)
    return refuse_fragmented(index, minor::bad_fragment);
  if (!make_room(pending.bytes, pending.header, data.size(), limits_.message_size))
    return fail(ErrorKind::imp_limit, minor::half_messages);
  pending.bytes.append(data);
  pending_bytes_ += data.size();
  if (!pending.request) pending.request = half_request(pending.header, pending.bytes);
  return header_.more_fragments ? Whole{} : complete(index);
}

// Takes the joined message; its entry stays, empty.
Message Assembler::take_joined(std::size_t index) {
  Pending& pending = pending_[index];
  MessageHeader header = pending.header;
  joined_ = std::move(pending.bytes);
  pending_bytes_ -= joined_.size();
  rewrite_header(header, joined_);
  return {header, joined_};
}

Expected<std::optional<Message>> Assembler::complete(std::size_t index) {
  const Message message = take_joined(index);
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(index));
  return Whole{message};
}

// Delivers what has arrived of the message as its beginning.
Expected<std::optional<Message>> Assembler::refuse_fragmented(std::size_t index, std::uint32_t reason) {
  if (!may_be_refused(pending_[index].header)) return fail(ErrorKind::imp_limit, reason);
  pending_[index].is_refused = true;
  Message message = take_joined(index);
  message.refusal = reason;
  if (!header_.more_fragments) pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(index));
  return Whole{message};
}

// A client may cancel a request after it has sent only some of its fragments. Then it sends no more of them.
void Assembler::drop_cancelled(Bytes bytes) noexcept {
  std::uint32_t id = 0;
  if (!read_id(header_, bytes, id)) return;
  const auto cancelled = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& pending) {
    if (pending.header.version < giop_1_2) return pending.request && pending.request->id == id;
    return pending.request_id == id && pending.header.type != MessageType::reply;
  });
  if (cancelled == pending_.end()) return;
  pending_bytes_ -= cancelled->bytes.size();
  pending_.erase(cancelled);
  settle();
}

}  // namespace corelane::giop
