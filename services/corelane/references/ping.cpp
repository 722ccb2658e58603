#include "services/corelane/references/ping.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>

#include "orb/base/minor.h"
#include "orb/base/text/counted.h"
#include "orb/core/client/client_call.h"
#include "orb/core/client/reference.h"
#include "orb/core/connections/address.h"
#include "orb/core/route.h"
#include "orb/os/clock.h"
#include "orb/os/listener.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/text.h"
#include "services/corelane/references/calling_orb.h"
#include "services/corelane/references/ior.h"

namespace corelane::tool {
namespace {

constexpr const char* reply_patience = "5s";  // for a reply; --timeout changes it
constexpr int warm_up = 10;                   // calls; the first one connects

struct Percentile {
  const char* name;
  double share;
};
constexpr Percentile percentiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};

struct Result {
  std::string type;
  core::Route route;
  std::vector<Duration> times;  // sorted

  Duration at(double share) const noexcept {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  }
};

// Measures the calls. Returns false if the object does not exist. Raises system exceptions.
bool measure_calls(const CORBA::object_reference<CORBA::Object>& object, const PingOptions& options, Result& result) {
  for (int i = 0; i < warm_up; ++i)
    if (object->_non_existent()) return false;
  result.times.reserve(static_cast<std::size_t>(options.calls));
  Time start = os::now();
  for (int i = 0; i < options.calls; ++i) {
    if (options.interval > Duration::zero()) os::sleep_until(start + options.interval);
    start = os::now();
    if (object->_non_existent()) return false;
    result.times.push_back(os::now() - start);
  }
  std::sort(result.times.begin(), result.times.end());
  return true;
}

void show_table(const Result& result, std::ostream& out) {
  out << plain(result.type) << " answers; " << plain(result.route.text) << "\n"
      << counted(result.times.size(), "call") << ":";
  for (const Percentile& p : percentiles) out << "  " << p.name << " " << brief(result.at(p.share));
  out << "\n";
}

void show_as_json(const Result& result, std::ostream& out) {
  nlohmann::ordered_json json{{"type", result.type},
                              {"way", result.route.text},
                              {"transport", result.route.transport},
                              {"endpoint", result.route.endpoint},
                              {"why", result.route.why},
                              {"calls", result.times.size()}};
  for (const Percentile& p : percentiles) json[std::string(p.name) + "_ns"] = result.at(p.share).count();
  out << json_lines(json);
}

// Returns the paths at which the object's server listens on this host.
std::vector<std::string> sockets_of(const core::Reference& reference) {
  std::vector<std::string> paths;
  for (const core::Address& address : reference.addresses())
    for (const transport::Endpoint& endpoint : address.endpoints)
      if (!endpoint.path.empty()) paths.push_back(endpoint.path);
  return paths;
}

// `found`: whether the reference, or the name in it, leads to an object.
int ping_object(CORBA::ORB& orb, const PingOptions& options, const std::string& reference, bool& found,
                std::ostream& out, std::ostream& err) {
  const auto object = orb.string_to_object(reference);
  found = true;
  if (object) {
    if (const auto stopped = os::stopped_listener(sockets_of(*object->_reference())))
      return err << "corelane ping: " << plain(to_string(*stopped)) << ": " << os::go_on_command(stopped->pid)
                 << " lets it go on\n",
             1;
  }
  if (!object) return err << "corelane ping: the reference is nil: it refers to no object\n", 1;
  Result result{.type = object->_reference()->ior().type_id, .route = {}, .times = {}};
  if (result.type.empty()) result.type = "the object";
  if (!measure_calls(object, options, result))
    return err << "corelane ping: the server answers, but has no such object; was the reference made by an earlier "
                  "start of it, or has the object been deactivated?\n",
           1;
  result.route = core::route_of(*object->_reference());
  (options.format == Format::json ? show_as_json : show_table)(result, out);
  return out ? 0 : 1;
}

// Returns what to do after a call through a name has failed. `found`: the nameserver returned an object, but the object
// does not answer.
const char* advice_for_name(bool found) {
  return found ? ". The nameserver answers, and this is the object of the name: if the object's server has ended, "
                 "corelane ns unbind removes the name, and ns bind --replace binds it to another object"
               : "; start corelane-nameserver where none runs; corelane ns status says whether the nameserver answers";
}

int ping_named(const PingOptions& options, bool& found, std::ostream& out, std::ostream& err) {
  const auto reference = read_reference("ping", options.reference, std::cin, err);
  if (!reference) return 1;
  std::vector<std::string> orb_options{"-ORBTimeoutRequest", reply_patience};
  orb_options.insert(orb_options.end(), options.options.begin(), options.options.end());
  const CallingOrb orb("corelane-ping", orb_options);
  return ping_object(*orb, options, *reference, found, out, err);
}

}  // namespace

int ping(const PingOptions& options, std::ostream& out, std::ostream& err) {
  bool found = false;
  try {
    return ping_named(options, found, out, err);
  } catch (const CORBA::BAD_PARAM& exception) {
    const bool is_name = exception.minor() == (minor::omg | 10);
    err << "corelane ping: " << plain(exception.what())
        << (is_name ? "; corelane ns list --recursive shows which names there are" : "") << "\n";
  } catch (const CORBA::TIMEOUT& exception) {
    std::string text = exception.what();
    if (text.ends_with(core::ping_advice)) text.resize(text.size() - core::ping_advice.size());
    err << "corelane ping: " << plain(text) << "; is the server stopped, or busy? --timeout waits longer\n";
  } catch (const CORBA::Exception& exception) {
    const bool is_named = options.reference.starts_with("corbaname:");
    err << "corelane ping: " << plain(exception.what()) << (is_named ? advice_for_name(found) : "") << "\n";
  }
  return 1;
}

}  // namespace corelane::tool
