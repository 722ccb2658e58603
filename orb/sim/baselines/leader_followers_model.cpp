#include "orb/sim/baselines/leader_followers_model.h"

#include <cstddef>

namespace corelane::sim {

void use_leader_followers(LeaderFollowersForm form, MulticoreOptions& options, std::span<MulticoreTask> tasks) {
  options.order = Order::priority;
  options.cluster = form == LeaderFollowersForm::unbound ? options.cores : 1;
  const auto used = form == LeaderFollowersForm::pinned ? static_cast<std::size_t>(options.cores) : 1;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (form != LeaderFollowersForm::allocated) tasks[i].core = CoreId{static_cast<std::int16_t>(i % used)};
    tasks[i].parts.clear();
  }
}

}  // namespace corelane::sim
