// ReservationServant implements Corelane::Reservation::Server. It checks who calls, whether the caller may do that, and
// for which process. The ReservationController does the rest.
// Threads: any.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "orb/base/thread_safety.h"
#include "orb/corba/portable_server.h"
#include "orb/os/mutex.h"
#include "reservationS.h"
#include "services/reserved/daemon/access_list.h"
#include "services/reserved/daemon/reservation_controller.h"

namespace corelane::reserved {

class ReservationServant final : public virtual CORBA::servant_traits<Corelane::Reservation::Server>::base_type {
 public:
  // The controller must outlive this servant.
  ReservationServant(ReservationController& controller, AccessList access);

  Corelane::Reservation::Grant reserve_cores(const Corelane::Reservation::Holder& for_whom,
                                             const Corelane::Reservation::CoresWanted& wanted,
                                             const Corelane::Reservation::Terms& how) override;
  Corelane::Reservation::Grant reserve_share(const Corelane::Reservation::Holder& for_whom,
                                             const Corelane::Reservation::ShareWanted& wanted,
                                             const Corelane::Reservation::Terms& how) override;
  Corelane::Reservation::OwnCores own_cores(const Corelane::Reservation::CoresWanted& wanted,
                                            const Corelane::Reservation::Terms& how) override;
  Corelane::Reservation::Grant look(Corelane::Reservation::Id reservation) override;
  Corelane::Reservation::Nanoseconds renew(Corelane::Reservation::Id reservation,
                                           Corelane::Reservation::Nanoseconds lease) override;
  void release(Corelane::Reservation::Id reservation) override;
  void lend(Corelane::Reservation::Id reservation, const Corelane::Reservation::Process& service) override;
  void take_back(Corelane::Reservation::Id reservation, const Corelane::Reservation::Process& service) override;
  Corelane::Reservation::Grant work_on(Corelane::Reservation::Id reservation) override;
  void leave(Corelane::Reservation::Id reservation) override;
  void charge(Corelane::Reservation::Id reservation, const Corelane::Reservation::Process& client,
              Corelane::Reservation::Nanoseconds used) override;
  Corelane::Reservation::AccountList accounts() override;
  Corelane::Reservation::CoreStateList cores() override;
  Corelane::Reservation::Status state() override;
  Corelane::Reservation::Grant reserve_with(const Corelane::Reservation::Holder& for_whom,
                                            const Corelane::Reservation::CoresWanted& wanted,
                                            const Corelane::Reservation::ShareWanted& share,
                                            const Corelane::Reservation::ResourceWantedList& also,
                                            const Corelane::Reservation::Terms& how) override;
  Corelane::Reservation::ResourceHeldList held_resources() override;
  Corelane::Reservation::ResourceStateList resource_states() override;

 private:
  struct Caller {
    Process process;
    std::uint32_t user;
  };

  Caller caller() const;
  Process process_behind(PeerId connection, const Process& now) const;
  Process resolve(const Corelane::Reservation::Process& named, const Caller& from, bool any_user = false) const;
  Corelane::Reservation::Grant reserve(const Corelane::Reservation::Holder& for_whom, const Wanted& wanted,
                                       const Corelane::Reservation::Terms& how,
                                       const std::vector<ResourceWanted>& also = {});
  Account owned(Corelane::Reservation::Id reservation, const Caller& from) const;

  ReservationController& controller_;
  const AccessList access_;
  const Time began_;
  mutable os::Mutex mutex_;
  mutable std::map<std::uint64_t, Process> connected_ CORELANE_GUARDED_BY(mutex_);  // first caller of each connection
};

}  // namespace corelane::reserved
