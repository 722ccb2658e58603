#include "orb/eval/planning/admitter.h"

#include <optional>
#include <utility>
#include <vector>

#include "orb/eval/planning/idle_server.h"
#include "orb/eval/planning/spin_placement.h"
#include "orb/eval/planning/whole_set.h"

namespace corelane::eval {
namespace {

class ServerAdmitter final : public Admitter {
 public:
  ServerAdmitter(const dispatch::ExecutiveOptions& options, std::span<const CoreId> cores) : server_(options, cores) {}

  bool admits(const Task& task) override {
    const TaskId id = server_.try_admit(task.label, task.contract);
    if (id != no_task) admitted_.push_back(id);
    return id != no_task;
  }
  void clear() override {
    for (const TaskId task : std::exchange(admitted_, {})) server_.leave(task);
  }

 private:
  IdleServer server_;
  std::vector<TaskId> admitted_;
};

class SpinAdmitter final : public Admitter {
 public:
  SpinAdmitter(const dispatch::ExecutiveOptions& options, std::span<const CoreId> cores)
      : options_(options), cores_(cores.begin(), cores.end()) {
    clear();
  }

  bool admits(const Task& task) override { return placement_->admit(task).has_value(); }
  void clear() override { placement_.emplace(options_, cores_); }

 private:
  const dispatch::ExecutiveOptions& options_;
  std::vector<CoreId> cores_;
  std::optional<SpinPlacement> placement_;
};

}  // namespace

std::unique_ptr<Admitter> admitter_for(const PlanRequest& request, std::span<const CoreId> cores) {
  const SlowdownTable* const charged = request.charged_slowdowns ? &*request.charged_slowdowns : nullptr;
  if (request.spin_locks) return std::make_unique<SpinAdmitter>(request.server, cores);
  if (auto set = whole_set_for(request.server, cores, nullptr, charged)) return set;
  return std::make_unique<ServerAdmitter>(request.server, cores);
}

}  // namespace corelane::eval
