#include "services/corelane/host_card/card_text.h"

#include <algorithm>
#include <cmath>

#include "services/corelane/host_card/published_costs.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

std::string cells_of(const eval::CostSummary& summary) {
  if (summary.count == 0) return format("%10s %10s %10s %10s %8s", "-", "-", "-", "-", "0");
  return format("%10s %10s %10s %10s %8lld", brief(summary.min).c_str(), brief(summary.median).c_str(),
                brief(summary.p99).c_str(), brief(summary.max).c_str(), static_cast<long long>(summary.count));
}

std::string heading(const char* subject, const char* last) {
  return format("\n%-42s %10s %10s %10s %10s %8s  %s\n", subject, "min", "median", "p99", "max", "n", last);
}

std::string published_text(eval::HostCost cost) {
  const auto range = published_range_of(cost);
  return range ? brief(range->least) + " to " + brief(range->most) : std::string("-");
}

// Says whose figures are beside those of this host.
std::string source_text() { return std::string("published: ") + published_costs_source + ", Linux 2.6.17\n"; }

std::string costs_text(const eval::HostCard& card) {
  if (card.costs.empty()) return {};
  std::string text = heading("cost", "published");
  for (const eval::HostCostName& name : eval::host_costs())
    if (const auto found = card.costs.find(name.cost); found != card.costs.end())
      text += format("%-42s ", std::string(name.text).c_str()) + cells_of(found->second) + "  " +
              published_text(name.cost) + "\n";
  return text + source_text();
}

std::string offset_text(const eval::ClockOffset& offset) {
  return format("clock of core %d against core %d: d0 %s, so offset %s, known to %s (%lld messages)\n", offset.to.value,
                offset.from.value, brief(offset.d0).c_str(), brief(offset.offset()).c_str(),
                brief(offset.round_trip / 2).c_str(), static_cast<long long>(offset.count));
}

std::string offsets_text(const eval::HostCard& card) {
  if (card.clock_offsets.empty()) return {};
  std::string text = "\n";
  for (const eval::ClockOffset& offset : card.clock_offsets) text += offset_text(offset);
  return text + "published: d0 " + brief(published_clock_offset) + " on average (" + published_costs_source + ")\n";
}

std::string wake_up_text(const eval::WakeLatency& wake_up) {
  const std::string load(eval::name_of(wake_up.load));
  const std::string subject = "load " + load + ", " + (wake_up.real_time ? "real-time" : "ordinary") + " thread";
  const auto row = [](const std::string& name, const eval::CostSummary& summary) {
    return format("%-42s ", name.c_str()) + cells_of(summary) + "\n";
  };
  std::string text = row(subject, wake_up.late);
  if (wake_up.timer.count > 0) text += row("  timer", wake_up.timer);
  if (wake_up.ready.count > 0) text += row(wake_up.real_time ? "  preemption" : "  scheduling", wake_up.ready);
  if (wake_up.machine.count > 0) text += row("  gaps of the machine", wake_up.machine);
  return text;
}

std::string wake_ups_text(const eval::HostCard& card) {
  if (card.wake_ups.empty()) return {};
  std::string text = heading("how late a thread runs after a timer", "");
  text.erase(text.find_last_not_of(" \n") + 1);
  text += "\n";
  for (const eval::WakeLatency& wake_up : card.wake_ups) text += wake_up_text(wake_up);
  return text + "published: timer latency " + brief(published_timer_latency) +
         ", and a few microseconds with firm timers (" + published_timer_source + ")\n";
}

std::string balancer_text(const eval::BalancerCost& cost, const char* whose) {
  const double minutes = std::max(static_cast<double>(cost.watched.count()) / 60e9, 1e-9);
  const auto total = Duration{std::llround(static_cast<double>(cost.total.count()) / minutes)};
  return format("%-10s %6d %5d %% %12.1f %10s %10s %10s %12s\n", whose, cost.tasks, cost.percent,
                static_cast<double>(cost.calls) / minutes, brief(cost.min).c_str(), brief(cost.mean).c_str(),
                brief(cost.max).c_str(), brief(total).c_str());
}

std::string balancing_text(const eval::HostCard& card) {
  if (card.balancer.empty()) return {};
  std::string text = format("\n%-10s %6s %7s %12s %10s %10s %10s %12s\n", "balancer", "tasks", "util", "calls/min",
                            "min", "mean", "max", "total/min");
  for (const eval::BalancerCost& cost : card.balancer) text += balancer_text(cost, "here");
  for (const eval::BalancerCost& cost : published_balancing()) text += balancer_text(cost, "published");
  return text + source_text();
}

}  // namespace

std::string text_of(const eval::HostCard& card) {
  const std::string processor = card.key.processor.empty() ? std::string() : ", " + plain(card.key.processor);
  std::string text = "\nhost card of " + plain(card.key.host) + ", Linux " + plain(card.key.kernel) + processor +
                     "\nmeasured " + plain(card.measured_at) +
                     (card.thorough ? " with --long" : " without --long: too few samples for a worst case") + "\n";
  text += costs_text(card) + offsets_text(card) + wake_ups_text(card) + balancing_text(card);
  if (!card.omissions.empty()) text += "\n";
  for (const eval::Omission& omission : card.omissions)
    text += "left out: " + plain(omission.what) + ": " + plain(omission.why) + "\n";
  return text;
}

}  // namespace corelane::tool
