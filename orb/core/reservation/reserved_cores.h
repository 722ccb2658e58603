// ReservedCores is a CoreProvider that gets cores from the daemon corelane-reserved, so that programs outside the
// reservation do not run on them. Another provider (the host's ledger) keeps the promises, so that several servers on
// the same reserved cores never promise capacity twice.
//
// lease() asks for cores, and the daemon moves the process to them. If the process was started on reserved cores
// (corelane reserve), it uses those, and does not release them. From then on maintain() checks periodically whether the
// cores are still reserved for this process.
//
// When the daemon ends, nothing changes: the kernel keeps other processes off the cores until the next daemon starts.
// That daemon releases all cores, and this class asks for the same cores again. If another process has them by then, or
// they were taken back, one of two things happens:
// - Use::automatic: the promises hold among servers only, by the ledger.
// - Use::required: the cores are revoked.
//
// Threads: as CoreProvider. lease() waits for the daemon's answer for `patience` at most; maintain() does not wait.
// Cores that are granted after lease() has given up are released at once.
//
// The folder orb/core/reservation asks the daemon corelane-reserved for cores.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/core/reservation/reservation_wire.h"
#include "orb/core/settings.h"
#include "orb/dispatch/core_provider.h"

namespace corelane::core {

class ReservedCores final : public dispatch::CoreProvider {
 public:
  struct Options {
    std::vector<std::string> sockets{};  // where the daemon may listen, in the order of trying
    std::uint16_t count = 1;             // how many cores to ask for, if the request names none
    bool required = false;
    Duration look_period = std::chrono::seconds{1};
    Duration patience = std::chrono::seconds{5};  // how long lease() waits for the daemon's answer
  };
  ReservedCores(std::unique_ptr<dispatch::CoreProvider> promises, Options options);
  ~ReservedCores() override;

  Expected<std::vector<dispatch::CoreLease>> lease(const dispatch::LeaseRequest& request) override;
  Expected<std::span<const dispatch::Promise>> begin() noexcept override { return promises_->begin(); }
  Expected<void> end(std::span<const dispatch::Promise> mine) noexcept override { return promises_->end(mine); }
  Expected<void> claim(std::span<const dispatch::Promise> mine) noexcept override { return promises_->claim(mine); }
  void abandon() noexcept override { promises_->abandon(); }
  bool alone() const noexcept override { return promises_->alone(); }
  bool alone_on(int physical_core) noexcept override { return promises_->alone_on(physical_core); }
  bool sees_others() const noexcept override { return promises_->sees_others(); }
  void withdraw() noexcept override { promises_->withdraw(); }
  bool is_revoked(CoreId core) const noexcept override;
  void maintain() noexcept override;
  bool is_settled() const noexcept override { return !has_cores() && !late_ && promises_->is_settled(); }

  // Returns whether the process's cores are reserved, as far as is known. Thread: as maintain().
  bool has_cores() const noexcept { return held_.id != 0 && !lost_; }

 private:
  // An error is a text that says the cause.
  Expected<ReservationWire::Held, std::string> reserve(const dispatch::LeaseRequest& request);
  Expected<ReservationWire, std::string> connect() const;
  void look();
  void give_back_late();
  void take(const ReservationWire::Answer& answer);
  void lose(const std::string& why);

  const std::unique_ptr<dispatch::CoreProvider> promises_;
  const Options options_;

  // Used by lease(), maintain() and is_revoked(), which one thread calls at a time.
  std::optional<ReservationWire> wire_;
  std::optional<ReservationWire> late_;  // a request whose answer came too late for lease()
  ReservationWire::Held held_;           // id 0: none
  bool again_ = false;                   // the request under way asks for the cores again
  bool lost_ = false;
  Time next_look_{};
};

}  // namespace corelane::core
