#include "services/corelane/reproductions/experiment.h"

#include <charconv>
#include <limits>

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

double number_at(const ExperimentValues& values, std::size_t row, std::size_t column) noexcept {
  const std::string& text = values[row][column];
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc{} ? number : std::numeric_limits<double>::quiet_NaN();
}

std::span<const Experiment* const> experiments() noexcept { return all_experiments; }

}  // namespace corelane::tool::reproductions
