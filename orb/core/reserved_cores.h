// ReservedCores: cores from corelane-reserved, promises from another provider (the host's ledger): so that nobody but
// this process runs on its cores, and several servers that share reserved cores still never promise one twice.
//
// lease() asks for cores, and the daemon moves the process to them. Where it was started on reserved ones (corelane
// reserve) it has those, and they are not given back with it. From then on maintain() looks now and then whether
// they are still this process's. When the daemon ends nothing changes: the kernel keeps others out until the next one
// starts. That one takes all back, and the same cores are asked for anew. When they are somebody else's by then, or
// were taken back, the promises stand by the ledger alone (Use::automatic), or the cores are revoked (Use::required).
//
// Threads: as CoreProvider. lease() waits for the daemon's answer for `patience` at most, maintain() for nothing. What
// is granted later is given back at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/core/reservation_wire.h"
#include "orb/core/settings.h"
#include "orb/dispatch/core_provider.h"

namespace corelane::core {

class ReservedCores final : public dispatch::CoreProvider {
 public:
  struct Options {
    std::vector<std::string> sockets{};  // where the daemon may be, in order
    std::uint16_t count = 1;             // how many cores are asked for where none are named
    bool required = false;
    Duration look_period = std::chrono::seconds{1};
    Duration patience = std::chrono::seconds{5};  // of lease(), for the daemon's answer
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

  // Whether the process's cores are reserved, as far as is known. Thread: as maintain().
  bool has_cores() const noexcept { return held_.id != 0 && !lost_; }

 private:
  // What prevented it as text.
  Expected<ReservationWire::Held, std::string> reserve(const dispatch::LeaseRequest& request);
  Expected<ReservationWire, std::string> connect() const;
  void look();
  void give_back_late();
  void take(const ReservationWire::Answer& answer);
  void lose(const std::string& why);

  const std::unique_ptr<dispatch::CoreProvider> promises_;
  const Options options_;

  // Of lease(), maintain() and is_revoked(), which one thread calls at a time.
  std::optional<ReservationWire> wire_;
  std::optional<ReservationWire> late_;  // lease() did not wait for its answer any longer
  ReservationWire::Held held_;           // id 0: none
  bool again_ = false;                   // asked for anew: the answer is to that
  bool lost_ = false;
  Time next_look_{};
};

}  // namespace corelane::core
