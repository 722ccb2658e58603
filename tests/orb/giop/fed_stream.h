// Bytes of GIOP messages, whole and in fragments, and a stream that assembles them.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orb/giop/assembler.h"
#include "orb/os/memory/byte_buffer.h"
#include "tests/support/bytes/wire.h"

namespace corelane::giop::fed {

using test::text_of;
using test::wire;

using Wire = std::vector<std::byte>;

inline constexpr Time start{std::chrono::seconds{1}};

// Messages, big endian. The GIOP 1.2 request with id 7 has three fragments, with 8 + 8 + 4 bytes of data.
inline const Wire first_1_2 = wire("'GIOP' 0102 02 00 0000000c 00000007 'aaaabbbb'");
inline const Wire middle_1_2 = wire("'GIOP' 0102 02 07 0000000c 00000007 'ccccdddd'");
inline const Wire last_1_2 = wire("'GIOP' 0102 00 07 00000008 00000007 'eeee'");
inline const Wire first_1_1 = wire("'GIOP' 0101 02 00 00000008 'aaaabbbb'");
inline const Wire last_1_1 = wire("'GIOP' 0101 00 07 00000004 'cccc'");
inline const Wire reply_1_2 = wire("'GIOP' 0102 00 01 00000004 00000009");
inline const Wire close_1_2 = wire("'GIOP' 0102 00 05 00000000");

inline Wire join(const std::vector<Wire>& parts) {
  Wire all;
  for (const Wire& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// A fragment of request `id`; type 0 starts, type 7 continues.
inline Wire piece(std::uint8_t type, std::uint8_t id, bool more, std::size_t data = 8) {
  Wire bytes = wire("'GIOP' 0102 00 00 00000000 00000000");
  bytes[6] = static_cast<std::byte>(more ? 2 : 0);
  bytes[7] = static_cast<std::byte>(type);
  for (std::size_t i = 0; i < 4; ++i) bytes[8 + i] = static_cast<std::byte>((4 + data) >> (24 - 8 * i) & 255);
  bytes[15] = static_cast<std::byte>(id);
  bytes.insert(bytes.end(), data, std::byte{'x'});
  return bytes;
}

class Stream {
 public:
  explicit Stream(const Limits& limits = {}, Role role = Role::both) : assembler(limits, role) {}

  // Feeds the bytes and collects the messages. Stops at a failure.
  Stream& feed(const Wire& bytes, Time now = start) {
    Bytes input(bytes);
    while (ok()) {
      const auto result = assembler.next(input, now);
      if (!result) error = result.error();
      if (!result || !*result) break;
      if ((*result)->refusal != 0) {
        refusals.push_back((*result)->refusal);
        beginnings.emplace_back((*result)->bytes.begin(), (*result)->bytes.end());
        continue;
      }
      types.push_back((*result)->header.type);
      if (takes_over && assembler.hand_over((*result)->bytes, kept)) REQUIRE(kept.data() == (*result)->bytes.data());
      bodies.emplace_back(text_of((*result)->bytes.subspan(header_size)));
      in_place = (*result)->bytes.data() >= bytes.data() && (*result)->bytes.data() < bytes.data() + bytes.size();
      sound = sound && parse_message((*result)->bytes).has_value();
    }
    if (ok()) REQUIRE(input.empty());
    return *this;
  }
  bool ok() const { return !error; }
  std::uint32_t minor() const { return error ? error->minor : 0; }

  Assembler assembler;
  std::vector<MessageType> types;
  std::vector<std::string> bodies;
  std::vector<std::uint32_t> refusals;  // of messages that exceed a limit
  std::vector<Wire> beginnings;         // of those messages
  bool in_place = false;
  bool sound = true;
  bool takes_over = false;
  os::ByteBuffer kept;  // the message that was taken over last
  std::optional<Error> error;
};

// How many bytes all streams may hold together. No part is reserved for one of them.
class Budget {
 public:
  explicit Budget(std::size_t bytes) : limit_(bytes) {}
  bool take(std::size_t bytes) { return bytes <= limit_ - used_ && (used_ += bytes, true); }
  void give(std::size_t bytes) { used_ -= bytes; }
  std::size_t used() const { return used_; }

 private:
  const std::size_t limit_;
  std::size_t used_ = 0;
};

class BudgetQuota final : public ReassemblyQuota {
 public:
  explicit BudgetQuota(std::shared_ptr<Budget> budget) : budget_(std::move(budget)) {}
  ~BudgetQuota() override { budget_->give(held_); }
  bool hold(std::size_t bytes, const Request&) noexcept override {
    if (bytes > held_ && !budget_->take(bytes - held_)) return false;
    if (bytes < held_) budget_->give(held_ - bytes);
    held_ = bytes;
    return true;
  }

 private:
  const std::shared_ptr<Budget> budget_;
  std::size_t held_ = 0;
};
inline std::unique_ptr<ReassemblyQuota> quota_of(const std::shared_ptr<Budget>& budget) {
  return std::make_unique<BudgetQuota>(budget);
}

}  // namespace corelane::giop::fed
