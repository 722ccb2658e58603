// The format of host cards: JSON, with durations as whole numbers of nanoseconds. docs/host-card.md lists the members.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "orb/eval/host_card/host_card.h"

namespace corelane::eval {
namespace host_card_json {  // names of its own: files are compiled together
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t format = 1;  // changes when a member changes its meaning

Json json_of(const CostSummary& summary) {
  return {{"min_ns", summary.min.count()},
          {"median_ns", summary.median.count()},
          {"p99_ns", summary.p99.count()},
          {"max_ns", summary.max.count()},
          {"count", summary.count}};
}

Json json_of(const ClockOffset& offset) {
  return {{"from", offset.from.value},
          {"to", offset.to.value},
          {"d0_ns", offset.d0.count()},
          {"round_trip_ns", offset.round_trip.count()},
          {"count", offset.count}};
}

Json json_of(const WakeLatency& wake_up) {
  return {{"load", std::string(name_of(wake_up.load))},
          {"real_time", wake_up.real_time},
          {"late", json_of(wake_up.late)},
          {"timer", json_of(wake_up.timer)},
          {"ready", json_of(wake_up.ready)},
          {"machine", json_of(wake_up.machine)}};
}

Json json_of(const BalancerCost& cost) {
  return {{"tasks", cost.tasks},        {"percent", cost.percent},       {"watched_ns", cost.watched.count()},
          {"calls", cost.calls},        {"min_ns", cost.min.count()},    {"mean_ns", cost.mean.count()},
          {"max_ns", cost.max.count()}, {"total_ns", cost.total.count()}};
}

Json json_of(const Omission& omission) { return {{"what", omission.what}, {"why", omission.why}}; }

template <typename Value>
Json array_of(const std::vector<Value>& values) {
  Json array = Json::array();
  for (const Value& value : values) array.push_back(json_of(value));
  return array;
}

Json json_of(const std::map<HostCost, CostSummary>& costs) {
  Json json = Json::object();
  for (const HostCostName& name : host_costs())
    if (const auto found = costs.find(name.cost); found != costs.end())
      json[std::string(name.key)] = json_of(found->second);
  return json;
}

// The functions that read throw nlohmann's exceptions for a missing or wrong member, and std::invalid_argument for a
// value that the member does not take.

std::int64_t read_whole(const Json& json, const char* member) {
  const Json& value = json.at(member);
  if (!value.is_number_integer()) throw std::invalid_argument(std::string(member) + " is no whole number");
  return value.get<std::int64_t>();
}

std::int64_t read_natural(const Json& json, const char* member) {
  const std::int64_t value = read_whole(json, member);
  if (value < 0) throw std::invalid_argument(std::string(member) + " is negative");
  return value;
}

int read_small(const Json& json, const char* member) {
  const std::int64_t value = read_natural(json, member);
  if (value > 1'000'000) throw std::invalid_argument(std::string(member) + " is too large");
  return static_cast<int>(value);
}

Duration read_duration(const Json& json, const char* member) { return Duration{read_natural(json, member)}; }

CoreId read_core(const Json& json, const char* member) {
  const int value = read_small(json, member);
  if (value > INT16_MAX) throw std::invalid_argument(std::string(member) + " is no core");
  return CoreId{static_cast<std::int16_t>(value)};
}

CostSummary read_summary(const Json& json) {
  const CostSummary summary{.min = read_duration(json, "min_ns"),
                            .median = read_duration(json, "median_ns"),
                            .p99 = read_duration(json, "p99_ns"),
                            .max = read_duration(json, "max_ns"),
                            .count = read_natural(json, "count")};
  const bool ascends = summary.min <= summary.median && summary.median <= summary.p99 && summary.p99 <= summary.max;
  if (!ascends) throw std::invalid_argument("min_ns, median_ns, p99_ns and max_ns do not ascend");
  return summary;
}

ClockOffset read_clock_offset(const Json& json) {
  return {.from = read_core(json, "from"),
          .to = read_core(json, "to"),
          .d0 = Duration{read_whole(json, "d0_ns")},
          .round_trip = read_duration(json, "round_trip_ns"),
          .count = read_natural(json, "count")};
}

WakeLatency read_wake_latency(const Json& json) {
  const auto name = json.at("load").get<std::string>();
  const auto loads = wake_loads();
  const auto known = std::ranges::find(loads, std::string_view(name), &WakeLoadName::name);
  if (known == loads.end()) throw std::invalid_argument("'" + name + "' is no load");
  return {.load = known->load,
          .real_time = json.at("real_time").get<bool>(),
          .late = read_summary(json.at("late")),
          .timer = read_summary(json.at("timer")),
          .ready = read_summary(json.at("ready")),
          .machine = read_summary(json.at("machine"))};
}

BalancerCost read_balancer_cost(const Json& json) {
  return {.tasks = read_small(json, "tasks"),
          .percent = read_small(json, "percent"),
          .watched = read_duration(json, "watched_ns"),
          .calls = read_natural(json, "calls"),
          .min = read_duration(json, "min_ns"),
          .mean = read_duration(json, "mean_ns"),
          .max = read_duration(json, "max_ns"),
          .total = read_duration(json, "total_ns")};
}

Omission read_omission(const Json& json) {
  return {.what = json.at("what").get<std::string>(), .why = json.at("why").get<std::string>()};
}

template <typename Read>
auto read_list(const Json& json, Read read) {
  std::vector<decltype(read(json))> values;
  for (const Json& element : json) values.push_back(read(element));
  return values;
}

std::map<HostCost, CostSummary> read_costs(const Json& json) {
  std::map<HostCost, CostSummary> costs;
  for (const auto& [key, value] : json.items()) {
    const auto names = host_costs();
    const auto known = std::ranges::find(names, std::string_view(key), &HostCostName::key);
    if (known == names.end()) throw std::invalid_argument("'" + key + "' is no cost");
    costs.emplace(known->cost, read_summary(value));
  }
  return costs;
}

HostCard read_card(const Json& json) {
  if (const std::int64_t found = read_whole(json, "format"); found != format)
    throw std::invalid_argument("format " + std::to_string(found) + " is not the format of this program, " +
                                std::to_string(format));
  return {.key = {.host = json.at("host").get<std::string>(),
                  .kernel = json.at("kernel").get<std::string>(),
                  .processor = json.at("processor").get<std::string>()},
          .measured_at = json.at("measured_at").get<std::string>(),
          .thorough = json.at("thorough").get<bool>(),
          .real_time = json.at("real_time").get<bool>(),
          .clock_offsets = read_list(json.at("clock_offsets"), read_clock_offset),
          .costs = read_costs(json.at("costs")),
          .wake_ups = read_list(json.at("wake_ups"), read_wake_latency),
          .balancer = read_list(json.at("balancer"), read_balancer_cost),
          .omissions = read_list(json.at("left_out"), read_omission)};
}

Json json_of(const HostCard& card) {
  return {{"format", format},
          {"host", card.key.host},
          {"kernel", card.key.kernel},
          {"processor", card.key.processor},
          {"measured_at", card.measured_at},
          {"thorough", card.thorough},
          {"real_time", card.real_time},
          {"clock_offsets", array_of(card.clock_offsets)},
          {"costs", json_of(card.costs)},
          {"wake_ups", array_of(card.wake_ups)},
          {"balancer", array_of(card.balancer)},
          {"left_out", array_of(card.omissions)}};
}

std::string text_of(const HostCard& card) {
  return json_of(card).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Expected<HostCard, CardFault> parse(std::string_view text, const std::string& path) {
  const char* const advice = "; measure this host again: corelane doctor --measure";
  try {
    return read_card(Json::parse(text));
  } catch (const nlohmann::json::exception& failure) {
    return CardFault{path + " is no host card: " + failure.what() + advice};
  } catch (const std::invalid_argument& failure) {
    return CardFault{path + " is no host card: " + failure.what() + advice};
  }
}

}  // namespace
}  // namespace host_card_json

std::string host_card_text(const HostCard& card) { return host_card_json::text_of(card); }

Expected<HostCard, CardFault> parse_host_card(std::string_view text, const std::string& path) {
  return host_card_json::parse(text, path);
}

}  // namespace corelane::eval
