#include "services/corelane/doctor/doctor.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "orb/base/contract.h"
#include "services/corelane/host_card/card_text.h"
#include "services/corelane/host_card/measure_host.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

const char* word_of(FindingState state) {
  switch (state) {
    case FindingState::present:
      return "present";
    case FindingState::missing:
      return "missing";
    default:
      return "unknown";
  }
}

std::string table_of(const Finding& finding) {
  constexpr const char* indent = "           ";
  std::string text = format("%-9s  %-23s ", word_of(finding.state), finding.name.c_str()) + plain(finding.found) + "\n";
  if (finding.state == FindingState::present) return text;
  if (!finding.cost.empty()) text += indent + finding.cost + "\n";
  for (const std::string& command : finding.commands) text += indent + ("$ " + command) + "\n";
  if (!finding.note.empty()) text += indent + finding.note + "\n";
  return text;
}

std::string table_of(const CoreLoad& load) {
  return format(
      "core %-4d wakes late by p50 %s, p99 %s, max %s; interrupts, kernel and host take %.2f %%, %s at once%s\n",
      load.core.value, brief(load.wake_p50).c_str(), brief(load.wake_p99).c_str(), brief(load.wake_max).c_str(),
      100 * load.taken, brief(load.longest_taken).c_str(),
      load.real_time ? "" : " (without SCHED_FIFO: other programs are in it)");
}

// Returns the blocking that `corelane plan --overheads host-card` takes from the card, if it has one.
std::optional<Duration> blocking_of(const std::optional<eval::HostCard>& card) {
  if (!card) return std::nullopt;
  const auto overheads = eval::overheads_of(*card, eval::CostCharge::p99);
  return overheads ? std::optional(overheads->blocking) : std::nullopt;
}

// Says which of two values of platform.blocking to use, below the card.
std::string choice_text(const Diagnosis& diagnosis) {
  const auto of_card = blocking_of(diagnosis.card);
  if (diagnosis.loads.empty() || !of_card) return {};
  const Duration suggested = suggest(diagnosis.loads).blocking;
  return "two p99 of wake-ups: " + to_string(suggested) + " above, of each core without load of its own; " +
         brief(*of_card) + " in the card, of the last core under four loads\n" +
         "platform.blocking: write the longer one. corelane plan --overheads takes the longer one of the card and "
         "the setting\n" +
         "if they differ by far, a busy host delayed one of them: measure again while it is quiet\n";
}

std::string busy_text(const std::vector<std::string>& signs) {
  if (signs.empty()) return {};
  std::string text = "\nwarning: the host was busy during the measurement, so these times may be too long:\n";
  for (const std::string& sign : signs) text += "  " + sign + "\n";
  return text + "  end what will not run later, and measure again\n";
}

std::string table_of(const std::vector<CoreLoad>& loads) {
  if (loads.empty()) return {};
  std::string text = "\n";
  for (const CoreLoad& load : loads) text += table_of(load);
  const PlatformSettings settings = suggest(loads);
  return text + "so in corelane.toml (p99; a job may be later than promised by what max is above it):\n  [platform]\n" +
         "  blocking = \"" + to_string(settings.blocking) + "\"\n  budget = \"" + to_string(settings.budget) +
         "\"\n  period = \"" + to_string(settings.period) + "\"\n";
}

nlohmann::ordered_json json_of(const Finding& finding) {
  return {{"name", finding.name}, {"state", word_of(finding.state)}, {"found", finding.found},
          {"cost", finding.cost}, {"commands", finding.commands},    {"note", finding.note}};
}

nlohmann::ordered_json json_of(const CoreLoad& load) {
  return {{"core", load.core.value},
          {"real_time", load.real_time},
          {"wake_p50_ns", load.wake_p50.count()},
          {"wake_p99_ns", load.wake_p99.count()},
          {"wake_max_ns", load.wake_max.count()},
          {"taken_share", load.taken},
          {"taken_longest_ns", load.longest_taken.count()}};
}

std::string json_text(const Diagnosis& diagnosis) {
  nlohmann::ordered_json json{{"missing", diagnosis.count(FindingState::missing)},
                              {"unknown", diagnosis.count(FindingState::unknown)},
                              {"findings", nlohmann::ordered_json::array()}};
  for (const Finding& finding : diagnosis.findings) json["findings"].push_back(json_of(finding));
  if (!diagnosis.loads.empty()) {
    const PlatformSettings settings = suggest(diagnosis.loads);
    for (const CoreLoad& load : diagnosis.loads) json["cores"].push_back(json_of(load));
    json["suggested"] = {{"platform.blocking", to_string(settings.blocking)},
                         {"platform.budget", to_string(settings.budget)},
                         {"platform.period", to_string(settings.period)}};
  }
  if (!diagnosis.busy.empty()) json["busy"] = diagnosis.busy;
  if (diagnosis.card) json["host_card"] = nlohmann::ordered_json::parse(eval::host_card_text(*diagnosis.card));
  if (!diagnosis.card_file.empty()) json["host_card_file"] = diagnosis.card_file;
  if (!diagnosis.card_fault.empty()) json["host_card_fault"] = diagnosis.card_fault;
  return json_lines(json);
}

std::string card_part(const Diagnosis& diagnosis) {
  if (!diagnosis.card) return {};
  const std::string text = text_of(*diagnosis.card);
  if (!diagnosis.card_fault.empty())
    return text + "the host card was not written: " + plain(diagnosis.card_fault) + "\n";
  return text + "written to " + plain(diagnosis.card_file) + "\n";
}

void take_measurements(const DoctorOptions& options, Diagnosis& diagnosis, std::ostream& progress) {
  const std::optional<double> average = load_average();  // before the measuring threads are part of it
  diagnosis.loads = measure_platform();
  diagnosis.busy = signs_of_busy_host(diagnosis.loads, average);
  diagnosis.card = measure_host({.thorough = options.thorough, .progress = [&](const std::string& what) {
                                   if (options.thorough) progress << "measuring " << what << std::endl;
                                 }});
  const std::string path = options.card_file.empty() ? eval::host_card_path() : options.card_file;
  if (path.empty()) {
    diagnosis.card_fault = "neither XDG_STATE_HOME nor HOME is an absolute path; name a file: --output FILE";
    return;
  }
  const auto written = eval::write_host_card(*diagnosis.card, path);
  (written ? diagnosis.card_file : diagnosis.card_fault) = written ? path : written.error().text;
}

}  // namespace

std::size_t Diagnosis::count(FindingState state) const {
  return static_cast<std::size_t>(std::ranges::count(findings, state, &Finding::state));
}

std::vector<Finding> examine(const HostView& host, unsigned purposes) {
  std::vector<Finding> findings;
  for (const auto table :
       {rights_checks(), limit_checks(), kernel_checks(), core_checks(), isolation_checks(), service_checks()})
    for (const Check& check : table)
      if ((check.purposes & purposes) != 0) findings.push_back(check.look(host));
  return findings;
}

std::string text_of(const Diagnosis& diagnosis, Format shown_as) {
  if (shown_as == Format::json) return json_text(diagnosis);
  std::string text;
  for (const FindingState state : {FindingState::missing, FindingState::unknown, FindingState::present})
    for (const Finding& finding : diagnosis.findings)
      if (finding.state == state) text += table_of(finding);
  text += table_of(diagnosis.loads) + busy_text(diagnosis.busy) + card_part(diagnosis) + choice_text(diagnosis);
  const std::size_t missing = diagnosis.count(FindingState::missing), unknown = diagnosis.count(FindingState::unknown);
  return text + "\n" + (missing == 0 ? "nothing is missing" : std::to_string(missing) + " missing") + ", " +
         std::to_string(unknown) + " unknown, of " + std::to_string(diagnosis.findings.size()) + "\n";
}

int status_of(const DoctorOptions& options, const Diagnosis& diagnosis) {
  if (!diagnosis.card_fault.empty()) return 1;
  if (diagnosis.card && diagnosis.card->costs.empty() && diagnosis.card->wake_ups.empty()) return 1;
  if (options.measure && !options.names_purpose) return 0;
  return diagnosis.count(FindingState::missing) == 0 ? 0 : 1;
}

int doctor(const DoctorOptions& options, std::ostream& out, std::ostream& progress) {
  const HostFiles files;
  ProbedFacts facts = probe(options.places);
  if ((options.purposes & unsigned(Purpose::services)) != 0 && !(facts.nameserver && facts.nameserver.stopped))
    facts.naming = look_for_nameserver(options.orb_options);
  Diagnosis diagnosis{.findings = examine({files, facts}, options.purposes)};
  if (options.measure) take_measurements(options, diagnosis, progress);
  out << text_of(diagnosis, options.format);
  return status_of(options, diagnosis);
}

}  // namespace corelane::tool
