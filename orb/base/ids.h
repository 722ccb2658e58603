// Identifiers as distinct types: a core cannot be used as a task or a priority.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace corelane {

// Holds one value of type Rep, and converts to no other identifier. Tag makes the type distinct.
template <typename Tag, typename Rep>
struct Id {
  Rep value{};
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using CoreId = Id<struct CoreTag, std::int16_t>;   // a hardware thread, with the operating system's number
using TaskId = Id<struct TaskTag, std::uint64_t>;  // issued by the server's Manager; 0 is no task
using JobId = Id<struct JobTag, std::uint64_t>;    // unique within a process, ascending
using TimerId = Id<struct TimerTag, std::uint64_t>;
using PeerId = Id<struct PeerTag, std::uint64_t>;  // the owner of tasks: a connection; 0 is this process

using ResourceId = Id<struct ResourceTag, std::uint32_t>;  // a resource that jobs lock, see resource_named(); 0 is none

// A rank: higher runs first. 0 is best effort; admitted tasks have 1 and above. It is not a native priority: one
// function of dispatch maps ranks to SCHED_FIFO levels.
using Priority = Id<struct PriorityTag, std::int32_t>;

inline constexpr TaskId no_task{0};
inline constexpr CoreId no_core{-1};
inline constexpr ResourceId no_resource{0};
inline constexpr Priority best_effort{0};

}  // namespace corelane

template <typename Tag, typename Rep>
struct std::hash<corelane::Id<Tag, Rep>> {
  std::size_t operator()(const corelane::Id<Tag, Rep>& id) const noexcept { return std::hash<Rep>{}(id.value); }
};
