#include "services/corelane/reproductions/experiment.h"

#include "services/corelane/reproductions/io_servers.h"
#include "services/corelane/reproductions/replenishment.h"
#include "services/corelane/reproductions/reservations.h"
#include "services/corelane/reproductions/server_costs.h"
#include "services/corelane/reproductions/shared_server.h"
#include "services/corelane/reproductions/timer_costs.h"
#include "services/corelane/reproductions/timer_interrupts.h"

namespace corelane::tool::reproductions {
namespace {

constexpr const Experiment* all_experiments[] = {
    &timer_interrupts,   &timer_costs,  &reservations,      &reservations_real, &shared_server, &replenishment,
    &replenishment_real, &io_on_behalf, &io_on_behalf_real, &io_servers,        &server_costs,  &server_counts,
};

}  // namespace

std::span<const Experiment* const> experiments() noexcept { return all_experiments; }

}  // namespace corelane::tool::reproductions
