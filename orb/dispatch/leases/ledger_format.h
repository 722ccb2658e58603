// This file defines the bytes of the host ledger. There is one file per host, in the runtime directory. All integers
// are in host byte order, since only processes of one kernel share the file. Every part has a checksum, so damage is
// found and never believed.
//
//   0         header: magic u64, version u32, slots u32, slot size u32, reserved u32, checksum u64
//   4096      slot[i], i = 0..63, 32 KiB each, of one process:
//             header: magic u32, entries u32, pid i32, reserved u32, checksum u64 (of the slot's header and entries)
//             entries[n], 64 bytes each: core i32, physical core i32, T, D, C, J, S i64, blocking i64, levels i32,
//             kind u32 (0 task, 1 platform load: T, C, J and blocking count)
// Version 4: the entries of the servers are in the file <ledger>.members (ledger_membership.h). Version 3 had them in
// <ledger>.seats, so servers of the two versions would not notice each other there. Since version 3, a process that
// takes a slot touches the file (os::touch_file()), and the other servers rely on that. A slot's checksum is computed
// by words. Version 1 had no platform loads.
//
// Locks (open file descriptions):
// - from byte 0: the transaction. The server in slot i locks i + 2 bytes, so that a process that finds the lock knows
//   its owner;
// - byte 1024 + i: slot i is being taken, or has an owner;
// - the first byte of a slot: its owner lives, and what is written there counts.
//
// Threads: pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "orb/base/bytes.h"
#include "orb/dispatch/core_provider.h"

namespace corelane::dispatch::ledger {

inline constexpr std::uint64_t file_magic = 0x31'5247'4445'4c4c'43;  // "CLLEDGR1"
inline constexpr std::uint32_t slot_magic = 0x544f'4c53;             // "SLOT"
inline constexpr std::uint32_t version = 4;
inline constexpr std::size_t slot_count = 64;
inline constexpr std::size_t slot_size = 32 * 1024;
inline constexpr std::size_t first_slot = 4096;
inline constexpr std::size_t first_claim = 1024;

struct FileHeader {
  std::uint64_t magic = file_magic;
  std::uint32_t version = ledger::version;
  std::uint32_t slots = slot_count;
  std::uint32_t slot_bytes = slot_size;
  std::uint32_t reserved = 0;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(FileHeader) == 32 && std::is_trivially_copyable_v<FileHeader>);

struct SlotHeader {
  std::uint32_t magic = slot_magic;
  std::uint32_t entries = 0;
  std::int32_t pid = 0;
  std::uint32_t reserved = 0;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(SlotHeader) == 24 && std::is_trivially_copyable_v<SlotHeader>);

struct Entry {
  std::int32_t core = 0;
  std::int32_t physical_core = 0;
  std::int64_t period = 0;
  std::int64_t deadline = 0;
  std::int64_t budget = 0;
  std::int64_t jitter = 0;
  std::int64_t suspension = 0;
  std::int64_t blocking = 0;
  std::int32_t levels = 0;
  std::uint32_t kind = 0;
};
static_assert(sizeof(Entry) == 64 && std::is_trivially_copyable_v<Entry>);

inline constexpr std::size_t entries_offset = 64;  // within a slot
inline constexpr std::size_t max_entries = (slot_size - entries_offset) / sizeof(Entry);

constexpr std::size_t slot_offset(std::size_t slot) { return first_slot + slot * slot_size; }
// Returns how many slots have at least a part in a file of that size.
constexpr std::size_t slots_within(std::size_t file_size) {
  return file_size <= first_slot ? 0 : std::min(slot_count, (file_size - first_slot + slot_size - 1) / slot_size);
}
constexpr std::size_t slot_bytes(std::size_t entries) { return entries_offset + entries * sizeof(Entry); }

FileHeader make_header(std::uint32_t format = version) noexcept;
bool is_sound(const FileHeader& header) noexcept;
// Returns whether it is an undamaged header of a ledger of another format version.
bool is_other_version(const FileHeader& header) noexcept;

// Writes a slot into `out` (at least slot_bytes(promises.size())) and returns how many bytes it takes. Returns nothing
// if there are more than max_entries.
std::optional<std::size_t> write_slot(std::span<const Promise> promises, std::int32_t pid, MutableBytes out) noexcept;

// Returns how many entries the slot that starts with `head` (at least entries_offset bytes) claims; nothing if it is no
// slot.
std::optional<std::size_t> entries_of(Bytes head) noexcept;
// Returns the checksum in a slot's header. It changes with the slot's content.
std::uint64_t checksum_in(Bytes head) noexcept;
// Returns the pid of the process that wrote the slot, in that process's own pid namespace.
std::int32_t pid_in(Bytes head) noexcept;
// Returns whether a slot's checksum and all its promises are right. `slot` has slot_bytes(entries_of(slot)) bytes.
bool is_sound(Bytes slot) noexcept;
// Returns entry `i` of a sound slot.
Promise promise_at(Bytes slot, std::size_t i) noexcept;

}  // namespace corelane::dispatch::ledger
