#include "orb/core/reservation/reserved_cores.h"

#include <algorithm>
#include <new>
#include <utility>

#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/os/machine/core_list.h"

namespace corelane::core {

ReservedCores::ReservedCores(std::unique_ptr<dispatch::CoreProvider> promises, Options options)
    : promises_(std::move(promises)), options_(std::move(options)) {}

ReservedCores::~ReservedCores() {
  give_back_late();
  if (wire_ && held_.id != 0 && held_.anew) wire_->release(held_.id);  // otherwise it ends with the process
}

Expected<std::vector<dispatch::CoreLease>> ReservedCores::lease(const dispatch::LeaseRequest& request) {
  auto held = reserve(request);
  if (!held) {
    if (options_.required) {
      os::log::error("this process has no reserved cores, but reserved.use = required needs them: " + held.error());
      return Error{ErrorKind::no_resources, Completion::no, minor::no_core_leased};
    }
    os::log::info("this process has no cores of its own: " + held.error() +
                  "; servers of this host still respect each other's promises (ledger), but other programs may use the "
                  "same cores");
    return promises_->lease(request);
  }
  held_ = std::move(*held);
  next_look_ = os::now() + options_.look_period;
  os::log::info("cores of its own for this process: " + os::core_list_text(held_.cores) + " (reservation " +
                std::to_string(held_.id) + (held_.anew ? ")" : ", on which it was started)"));
  dispatch::LeaseRequest own = request;
  if (own.cores.empty()) own.cores = held_.cores;
  return promises_->lease(own);
}

Expected<ReservationWire, std::string> ReservedCores::connect() const {
  std::string faults;
  for (const std::string& path : options_.sockets) {
    auto wire = ReservationWire::connect(path);
    if (wire) return wire;
    faults += (faults.empty() ? "" : ", ") + wire.error();
  }
  return Unexpected{"corelane-reserved does not run (" + faults +
                    "); start it as root, which moves all other programs of this host off reserved cores"};
}

Expected<ReservationWire::Held, std::string> ReservedCores::reserve(const dispatch::LeaseRequest& request) {
  if (request.cores.empty() && !request.by_deadlines.empty())
    return Unexpected{std::string("pool.deadline_cores names cores, so pool.cores has to name them all")};
  give_back_late();
  if (late_) return Unexpected{std::string("corelane-reserved has not answered yet what it was asked before")};
  auto wire = connect();
  if (!wire) return Unexpected{wire.error()};
  const auto count = request.cores.empty() ? options_.count : static_cast<std::uint16_t>(request.cores.size());
  ReservationWire::Answer answer;
  const auto state =
      wire->ask_for(count, request.cores) ? wire->poll(answer, options_.patience) : ReservationWire::State::closed;
  if (state == ReservationWire::State::waiting) late_ = *std::move(wire);
  if (state != ReservationWire::State::answered) return Unexpected{std::string("corelane-reserved does not answer")};
  if (!answer.held) return Unexpected{answer.why};
  wire_ = *std::move(wire);
  return *std::move(answer.held);
}

bool ReservedCores::is_revoked(CoreId core) const noexcept {
  if (promises_->is_revoked(core)) return true;
  return options_.required && lost_ && std::ranges::find(held_.cores, core) != held_.cores.end();
}

void ReservedCores::maintain() noexcept try {
  promises_->maintain();
  give_back_late();
  if (has_cores()) look();
} catch (const std::bad_alloc&) {
  // the next call tries again
}

// The process runs without these cores now, so a late grant would be unused.
void ReservedCores::give_back_late() {
  ReservationWire::Answer answer;
  if (!late_) return;
  const auto state = late_->poll(answer);
  if (state == ReservationWire::State::waiting) return;
  if (answer.held && answer.held->anew) late_->release(answer.held->id);
  late_.reset();
}

void ReservedCores::look() {
  ReservationWire::Answer answer;
  if (wire_ && wire_->is_waiting()) {
    const auto state = wire_->poll(answer);
    if (state == ReservationWire::State::closed) wire_.reset();
    if (state == ReservationWire::State::answered) take(answer);
    return;
  }
  const Time now = os::now();
  if (now < next_look_) return;
  next_look_ = now + options_.look_period;
  if (!wire_)
    if (auto wire = connect()) wire_ = *std::move(wire);
  again_ = false;
  if (wire_ && !wire_->look_at(held_.id)) wire_.reset();
}

void ReservedCores::take(const ReservationWire::Answer& answer) {
  if (answer.held) {
    if (again_) {
      os::log::info("cores " + os::core_list_text(held_.cores) + " are reserved for this process again");
      held_ = *answer.held;
    }
    return;
  }
  if (!answer.decided) return wire_.reset();  // this says nothing about the cores: the next look asks again
  if (again_) return lose(answer.why);
  again_ = true;
  if (!wire_->ask_for(static_cast<std::uint16_t>(held_.cores.size()), held_.cores)) wire_.reset();
}

void ReservedCores::lose(const std::string& why) {
  lost_ = true;
  os::log::warn(
      "cores " + os::core_list_text(held_.cores) + " are no longer reserved for this process: " + why +
      (options_.required
           ? "; its tasks there end, because reserved.use = required"
           : "; its promises still hold against other servers (ledger), but other programs may disturb its tasks"));
}

}  // namespace corelane::core
