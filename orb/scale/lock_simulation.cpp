#include "orb/scale/lock_simulation.h"

#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

#include "orb/sim/workload.h"

namespace corelane::scale {
namespace {

constexpr int batches = 30;
constexpr double student_t = 2.045;  // 97.5 % quantile, 29 degrees of freedom

// LockNetwork is the state of the network at one instant.
class LockNetwork {
 public:
  LockNetwork(const LockModel& model, int cores, const LockSimulation& simulation)
      : model_(model), is_constant_(simulation.times == SectionTimes::constant), random_(simulation.seed) {
    // Constant times would begin all sections at once, which no program does. So the first ones are spread.
    for (int core = 0; core < cores; ++core)
      arrivals_.push(model.outside * (is_constant_ ? sim::uniform(random_) : amount()));
  }

  // Runs until so many critical sections have ended.
  void run(std::int64_t sections) {
    while (sections > 0) {
      const double end =
          requesters_ > 0 ? now_ + work_left_ * time_of_section() : std::numeric_limits<double>::infinity();
      if (!arrivals_.empty() && arrivals_.top() <= end) {
        arrive();
      } else {
        leave(end);
        --sections;
      }
    }
  }

  double now() const { return now_; }
  double requester_time() const { return requester_time_; }  // integral of the number of requesters
  double busy_time() const { return busy_time_; }            // time during which a core held the lock

 private:
  // Returns an amount with the mean 1.
  double amount() { return is_constant_ ? 1 : -std::log1p(-sim::uniform(random_)); }
  double time_of_section() const { return model_.section + model_.hand_over * requesters_ / 2; }

  void advance(double to) {
    const double passed = to - now_;
    requester_time_ += passed * requesters_;
    if (requesters_ > 0) busy_time_ += passed;
    now_ = to;
  }

  // A core ends its work outside of the lock.
  void arrive() {
    const double at = arrivals_.top();
    arrivals_.pop();
    if (requesters_ > 0) work_left_ -= (at - now_) / time_of_section();
    advance(at);
    if (++requesters_ == 1) work_left_ = amount();
  }

  // The holder ends its critical section.
  void leave(double at) {
    advance(at);
    --requesters_;
    arrivals_.push(now_ + model_.outside * amount());
    if (requesters_ > 0) work_left_ = amount();
  }

  const LockModel model_;
  const bool is_constant_;
  sim::Random random_;
  std::priority_queue<double, std::vector<double>, std::greater<>> arrivals_{};  // when cores will ask for the lock
  int requesters_ = 0;                                                           // cores that hold or wait for the lock
  double work_left_ = 0;                                                         // of the current section
  double now_ = 0;
  double requester_time_ = 0;
  double busy_time_ = 0;
};

double half_width_of(const std::vector<double>& values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto count = static_cast<double>(values.size());
  return student_t * std::sqrt(squares / (count - 1) / count);
}

}  // namespace

SimulatedLockPoint simulate(const LockModel& model, int cores, const LockSimulation& simulation) {
  LockNetwork network(model, cores, simulation);
  network.run(simulation.sections / 10);
  const std::int64_t per_batch = simulation.sections / batches;
  const double begin = network.now(), requesters = network.requester_time(), busy = network.busy_time();
  std::vector<double> throughputs;
  double sum = 0;
  for (int batch = 0; batch < batches; ++batch) {
    const double batch_begin = network.now();
    network.run(per_batch);
    throughputs.push_back(static_cast<double>(per_batch) / (network.now() - batch_begin));
    sum += throughputs.back();
  }
  const double mean = sum / batches, time = network.now() - begin;
  return {.point = point_of(model, cores, mean, (network.requester_time() - requesters) / time,
                            (network.busy_time() - busy) / time),
          .half_width = half_width_of(throughputs, mean)};
}

}  // namespace corelane::scale
