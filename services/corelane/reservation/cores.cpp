#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "orb/base/text/counted.h"
#include "orb/os/machine/host.h"
#include "orb/os/peers/user_name.h"
#include "services/corelane/host/host_files.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/text.h"
#include "services/corelane/reservation/reserve.h"

namespace corelane::tool {
namespace {

namespace rs = Corelane::Reservation;

const char* word_of_use(rs::CoreUse use) {
  switch (use) {
    case rs::CoreUse::common:
      return "common";
    case rs::CoreUse::taken:
      return "taken";
    case rs::CoreUse::kept_idle:
      return "kept idle";
    case rs::CoreUse::shared:
      return "shared";
    case rs::CoreUse::held:
      return "held";
    default:
      return "withheld";
  }
}

Duration duration_of(rs::Nanoseconds nanoseconds) { return Duration{static_cast<std::int64_t>(nanoseconds)}; }

std::string holder_text(const rs::Account& account) {
  return plain(account.program()) + " " + std::to_string(account.whose().who().pid());
}

std::string line_of(const rs::CoreState& core, const rs::AccountList& accounts) {
  std::string text = format("%-5d %-5d %-6d %-5d %-10s ", core.core(), core.physical_core(), core.cache(), core.node(),
                            word_of_use(core.use()));
  const auto owner = std::ranges::find_if(
      accounts, [&](const rs::Account& account) { return core.owner() != 0 && account.reservation() == core.owner(); });
  if (owner != accounts.end()) text += "reservation " + std::to_string(core.owner()) + ": " + holder_text(*owner);
  if (core.use() == rs::CoreUse::held)
    text +=
        "none: a process that had it takes long to end, and the kernel gives it to no other until then; or the core is "
        "switched off";
  if (core.use() == rs::CoreUse::withheld) text += "all processes: it is never given away (reserved.keep)";
  if (core.use() == rs::CoreUse::shared)
    text += format("%.1f %% booked, %.1f %% free", 100 * core.booked(), 100 * core.free());
  return text + "\n";
}

// Returns "broker 77", or "process 77" if that process has ended. Process id 0 stands for the processes that an account
// has no room for.
std::string process_text(const rs::Process& process) {
  if (process.pid() == 0) return "others";
  const std::string number = std::to_string(process.pid());
  const auto now = os::identity_of(process.pid());
  if (!now || now->start_ticks != process.started()) return "process " + number;
  return plain(HostFiles().text_or_empty("/proc/" + number + "/comm")) + " " + number;
}

std::string work_text(std::uint64_t times, rs::Nanoseconds used) {
  return (times == 1 ? "once" : std::to_string(times) + " times") + ", " + brief(duration_of(used)) + " of CPU time";
}

// For a client: the service's work is charged to the client's account.
std::string line_of(const rs::Loan& loan) {
  const std::string text = (loan.over() ? "was lent to " : "lent to ") + process_text(loan.service()) + ": ";
  if (loan.times() == 0) return text + "has not worked there yet";
  return text + (loan.in_use() ? "works there now, so far " : "worked there ") + work_text(loan.times(), loan.used());
}

// For a service: its work is on its own account, under the name of the client.
std::string line_of(const rs::Charge& charge) {
  return "worked for " + process_text(charge.client()) + ": " + work_text(charge.times(), charge.used());
}

// Returns "memory 256 MiB, cache 2 ways, disk weight 300"; in whole units, or bytes.
std::string amount_of(const std::string& name, std::uint64_t amount) {
  if (name == "cache") return counted(amount, "way");
  if (name == "disk") return "weight " + std::to_string(amount);
  if (name != "memory") return std::to_string(amount);
  constexpr double mebi = 1 << 20;
  const double size = static_cast<double>(amount) / mebi;
  return size >= 1024 ? format("%.4g GiB", size / 1024) : format("%.4g MiB", size);
}

std::string line_of(const rs::Account& account, const rs::ResourceHeldList& held) {
  std::string text = format("%-5llu ", static_cast<unsigned long long>(account.reservation())) + holder_text(account) +
                     ", user " + plain(os::name_of_user(account.user())) + ": ";
  if (account.waiting())
    text += "waits for room";
  else
    text += (account.share().budget() != 0 ? brief(duration_of(account.share().budget())) + " in every " +
                                                 brief(duration_of(account.share().period())) + " on "
                                           : std::string()) +
            (account.cores().size() == 1 ? "core " : "cores ") + cores_text(account.cores()) + " for " +
            brief(duration_of(account.held()));
  for (const rs::ResourceHeld& one : held)
    if (one.reservation() == account.reservation())
      text += ", " + plain(one.name()) + " " + amount_of(one.name(), one.amount());
  if (account.lease_left() != 0) text += ", ends in " + brief(duration_of(account.lease_left()));
  if (!account.note().empty()) text += "; " + plain(account.note());
  for (const rs::Loan& loan : account.loans()) text += "\n      " + line_of(loan);
  for (const rs::Charge& charge : account.charges()) text += "\n      " + line_of(charge);
  return text + "\n";
}

nlohmann::ordered_json json_of(const rs::CoreState& core) {
  return {{"core", core.core()},
          {"physical_core", core.physical_core()},
          {"cache", core.cache()},
          {"node", core.node()},
          {"use", word_of_use(core.use())},
          {"reservation", core.owner()},
          {"booked", core.booked()},
          {"free", core.free()}};
}

nlohmann::ordered_json json_of(const rs::Account& account) {
  nlohmann::ordered_json json{{"reservation", account.reservation()},
                              {"waiting", account.waiting()},
                              {"pid", account.whose().who().pid()},
                              {"user", account.user()},
                              {"program", account.program()},
                              {"note", account.note()},
                              {"cores", account.cores()},
                              {"idle", account.idle()},
                              {"budget_ns", account.share().budget()},
                              {"period_ns", account.share().period()},
                              {"held_ns", account.held()},
                              {"lease_left_ns", account.lease_left()}};
  for (const rs::Loan& loan : account.loans())
    json["loans"].push_back({{"service", loan.service().pid()},
                             {"in_use", loan.in_use()},
                             {"over", loan.over()},
                             {"used_ns", loan.used()},
                             {"times", loan.times()}});
  for (const rs::Charge& charge : account.charges())
    json["charges"].push_back(
        {{"client", charge.client().pid()}, {"used_ns", charge.used()}, {"times", charge.times()}});
  return json;
}

const char* word_of_promise(rs::ResourcePromise promise) {
  switch (promise) {
    case rs::ResourcePromise::guaranteed:
      return "guaranteed";
    case rs::ResourcePromise::exclusive:
      return "exclusive";
    case rs::ResourcePromise::proportional:
      return "proportional";
    default:
      return "best effort";
  }
}

std::string line_of(const rs::ResourceState& state) {
  const std::string name = plain(state.name());
  if (state.most() == 0) return name + ": none can be reserved here: " + plain(state.meaning()) + "\n";
  const bool has_sum = state.promise() != rs::ResourcePromise::proportional;
  return name + ": " +
         (has_sum ? amount_of(name, state.promised()) + " of " + amount_of(name, state.most()) + " promised, "
                  : "up to " + amount_of(name, state.most()) + " each, ") +
         word_of_promise(state.promise()) + "\n";
}

nlohmann::ordered_json json_of(const rs::ResourceState& state) {
  return {{"name", state.name()},
          {"most", state.most()},
          {"promised", state.promised()},
          {"promise", state.most() == 0 ? "none" : word_of_promise(state.promise())},
          {"meaning", state.meaning()}};
}

std::string json_text(const CoresShown& shown) {
  nlohmann::ordered_json json{{"backend", shown.status.backend()},
                              {"place", shown.status.place()},
                              {"cannot", shown.status.cannot()},
                              {"cores", nlohmann::ordered_json::array()},
                              {"reservations", nlohmann::ordered_json::array()},
                              {"resources", nlohmann::ordered_json::array()}};
  for (const rs::CoreState& core : shown.cores) json["cores"].push_back(json_of(core));
  for (const rs::Account& account : shown.accounts) {
    json["reservations"].push_back(json_of(account));
    for (const rs::ResourceHeld& held : shown.held)
      if (held.reservation() == account.reservation())
        json["reservations"].back()["resources"].push_back(
            {{"name", held.name()}, {"amount", held.amount()}, {"promise", word_of_promise(held.promise())}});
  }
  for (const rs::ResourceState& state : shown.resources) json["resources"].push_back(json_of(state));
  return json_lines(json);
}

}  // namespace

std::string text_of(const CoresShown& shown, const CoresOptions& options) {
  if (options.format == Format::json) return json_text(shown);
  std::string text = "core  phys  cache  node  use        owner\n";
  for (const rs::CoreState& core : shown.cores) text += line_of(core, shown.accounts);
  if (!shown.accounts.empty()) text += "reservations\n";
  for (const rs::Account& account : shown.accounts) text += line_of(account, shown.held);
  for (const rs::ResourceState& state : shown.resources) text += line_of(state);
  const rs::Status& status = shown.status;
  text += "by " + plain(status.backend()) + (status.place().empty() ? "" : " at " + plain(status.place())) + "\n";
  if (options.details)
    for (const std::string& lack : status.cannot()) text += "not promised here: " + plain(lack) + "\n";
  else if (!status.cannot().empty())
    text += "this host limits what is promised in " + counted(status.cannot().size(), "way") +
            "; corelane cores --long names each\n";
  return text;
}

int show_cores(const ReservationPlace& place, const CoresOptions& options, std::ostream& out, std::ostream& err) {
  return with_reservations("corelane cores", place, err, 1, [&](const ReservationServer& server) {
    CoresShown shown{.cores = server->cores(), .accounts = server->accounts(), .status = server->state()};
    try {
      shown.resources = server->resource_states();
      shown.held = server->held_resources();
    } catch (const CORBA::BAD_OPERATION&) {  // the daemon is of an older version
    }
    out << text_of(shown, options);
    return 0;
  });
}

}  // namespace corelane::tool
