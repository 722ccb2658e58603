// GiopMutator makes an endless, repeatable stream of damaged GIOP messages, for parsers and for live servers.
// - Damage: truncation, flipped bits, random octets, extreme numbers in place of ulongs, slices that are cut out or
//   doubled, two messages spliced, and appended garbage.
// - Half of the messages get a fitting size in their header again. So the damage also reaches code after the Assembler.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/giop/code_sets.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/headers.h"
#include "orb/giop/ior.h"

namespace corelane::test {

using WireBytes = std::vector<std::byte>;

inline giop::Ior sample_ior() {
  const std::string_view key = "key";
  const Bytes bytes = std::as_bytes(std::span(key));
  giop::IiopProfile profile;
  profile.address = {"127.0.0.1", 2809};
  profile.object_key.assign(bytes.begin(), bytes.end());
  profile.components = {giop::make_orb_type(), giop::make_code_sets(giop::our_code_sets()),
                        giop::make_alternate_address({"::1", 2810})};
  return {"IDL:Sample:1.0", {giop::make_profile(profile), {77, {std::byte{1}, std::byte{2}}}}};
}

// Makes one sound message of every type, version, order and addressing, among them requests for `key` and requests in
// fragments. It has what a server receives and what a client receives.
class GiopCorpus {
 public:
  explicit GiopCorpus(Bytes key) : key_(key) {
    for (const ByteOrder order : {ByteOrder::big, ByteOrder::little})
      for (const giop::Version version : {giop::giop_1_0, giop::giop_1_1, giop::giop_1_2}) add_all(version, order);
  }
  std::vector<WireBytes> take() && { return std::move(messages_); }

 private:
  void add_all(giop::Version version, ByteOrder order) {
    add_requests(version, order);
    add_replies(version, order);
    giop::write_cancel_request(writer_, 7, version, order), keep();
    giop::write_close_connection(writer_, version, order), keep();
    giop::write_message_error(writer_, version, order), keep();
  }
  void add_requests(giop::Version version, ByteOrder order) {
    const auto contract = giop::encode_contract({TaskId{1}, JobId{2}, make_contract(Duration{1000}, Duration{10}), {}});
    giop::ChainContext waits;
    waits.push(5), waits.push(6);
    const auto chain = giop::encode_chain(waits);
    const auto sets = giop::encode_code_sets({giop::code_set::utf_8, giop::code_set::utf_16});
    const giop::ServiceContext contexts[] = {
        {giop::context::contract, contract}, {giop::context::chain, chain}, {giop::context::code_sets, sets}};
    const giop::Ior ior = sample_ior();
    for (const giop::Addressing addressing :
         {giop::Addressing::key, giop::Addressing::profile, giop::Addressing::reference}) {
      giop::Target target{addressing, key_, giop::profile::iiop, ior.profiles[0].data, 0, &ior};
      giop::begin_request(writer_, {7, giop::response::with_target, target, "ping", {}}, contexts, version, order);
      writer_.write_string("argument");
      writer_.write(1.5);
      giop::finish(writer_), keep();
      if (version > giop::giop_1_0) fragment(version, order);
      giop::begin_locate_request(writer_, {7, target}, version, order);
      giop::finish(writer_), keep();
    }
  }
  void add_replies(giop::Version version, ByteOrder order) {
    const auto refusal = giop::encode_refusal({.reason = 1, .closest = CoreId{2}});
    const WireBytes detail = giop::encode_detail("why");
    const giop::ServiceContext contexts[] = {{giop::context::refusal, refusal},
                                             {giop::context::exception_detail, detail}};
    giop::begin_reply(writer_, {7, giop::ReplyStatus::system_exception, {}}, contexts, version, order);
    giop::encode_system_exception(writer_, {ErrorKind::no_resources, Completion::no, 1});
    giop::finish(writer_), keep();
    giop::begin_reply(writer_, {7, giop::ReplyStatus::location_forward, {}}, {}, version, order);
    giop::encode(writer_, sample_ior());
    giop::finish(writer_), keep();
    giop::begin_locate_reply(writer_, {7, giop::LocateStatus::object_forward}, version, order);
    giop::encode(writer_, sample_ior());
    giop::finish(writer_), keep();
  }
  // Adds the last message again, in two fragments.
  void fragment(giop::Version version, ByteOrder order) {
    const WireBytes whole = messages_.back();
    const std::size_t cut = 48;
    cdr::Writer first(order), last(order);
    first.write_bytes(Bytes(whole).first(cut));
    first.patch(8, cut - giop::header_size);
    giop::begin_message(last, giop::MessageType::fragment, version, order);
    if (version == giop::giop_1_2) last.write(std::uint32_t{7});
    last.write_bytes(Bytes(whole).subspan(cut));
    giop::finish(last);
    WireBytes both = first.to_vector();
    both[6] |= std::byte{2};
    both.insert(both.end(), last.bytes().begin(), last.bytes().end());
    messages_.push_back(std::move(both));
  }
  void keep() { messages_.push_back(writer_.to_vector()); }

  Bytes key_;
  cdr::Writer writer_;
  std::vector<WireBytes> messages_;
};

class GiopMutator {
 public:
  // `key`: an object of the server under test, so that damage gets past the object adapter.
  explicit GiopMutator(std::uint64_t seed, std::string_view key = "key")
      : random_(seed), corpus_(GiopCorpus(std::as_bytes(std::span(key))).take()) {}

  const std::vector<WireBytes>& corpus() const { return corpus_; }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  // Returns the next message. It is valid until the next call.
  const WireBytes& next() {
    message_ = corpus_[below(corpus_.size())];
    for (std::uint64_t i = 1 + below(4); i != 0; --i) damage();
    if (below(2) == 0) mend_size();
    return message_;
  }

 private:
  void damage() {
    if (message_.empty()) return append_garbage();
    switch (below(8)) {
      case 0:
        return message_.resize(below(message_.size() + 1));
      case 1:
        message_[place()] ^= static_cast<std::byte>(1u << below(8));
        return;
      case 2:
        message_[place()] = octet();
        return;
      case 3:
        return bomb();
      case 4:
        return cut_out();
      case 5:
        return double_slice();
      case 6:
        return splice();
      default:
        return append_garbage();
    }
  }
  void bomb() {
    static constexpr std::uint32_t bombs[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffc, 0x10000, 0xff};
    const std::uint32_t value = bombs[below(std::size(bombs))];
    if (message_.size() < 4) return;
    std::memcpy(&message_[below(message_.size() / 4) * 4], &value, sizeof value);
  }
  void cut_out() {
    const auto from = message_.begin() + static_cast<std::ptrdiff_t>(place());
    const auto most = static_cast<std::uint64_t>(message_.end() - from);
    message_.erase(from, from + static_cast<std::ptrdiff_t>(below(most + 1)));
  }
  void double_slice() {
    const std::size_t from = place();
    const std::size_t size = below(std::min<std::size_t>(64, message_.size() - from) + 1);
    const WireBytes slice(message_.data() + from, message_.data() + from + size);
    message_.insert(message_.begin() + static_cast<std::ptrdiff_t>(from), slice.begin(), slice.end());
  }
  void splice() {
    const WireBytes& other = corpus_[below(corpus_.size())];
    message_.resize(place());
    message_.insert(message_.end(), other.begin() + static_cast<std::ptrdiff_t>(below(other.size())), other.end());
  }
  void append_garbage() {
    for (std::uint64_t i = below(32); i != 0; --i) message_.push_back(octet());
  }
  void mend_size() {
    if (message_.size() < giop::header_size) return;
    const bool little = (message_[6] & std::byte{1}) != std::byte{0};
    const auto size = cdr::to_raw(static_cast<std::uint32_t>(message_.size() - giop::header_size),
                                  little != (native_order == ByteOrder::little));
    std::memcpy(&message_[8], &size, sizeof size);
  }
  std::size_t place() { return below(message_.size()); }
  std::byte octet() { return static_cast<std::byte>(below(256)); }

  std::mt19937_64 random_;
  std::vector<WireBytes> corpus_;
  WireBytes message_;
};

}  // namespace corelane::test
