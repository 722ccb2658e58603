#include "orb/core/orb.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/base/thread_safety.h"
#include "orb/core/client/name_service.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/giop/corbaloc.h"
#include "orb/giop/corbaname.h"
#include "orb/giop/ior.h"
#include "orb/os/files/small_file.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/mutex.h"
#include "orb/os/process/standard_descriptors.h"
#include "orb/os/wait/wait.h"

namespace corelane::core {
namespace {

constexpr Error bad_uri{ErrorKind::bad_param, Completion::no, minor::bad_uri};
constexpr std::size_t largest_reference_file = 1024 * 1024;
constexpr std::size_t longest_file_name = 255;

// Holds the ORBs that exist. It is never destroyed, because threads may still run when static objects are destroyed.
struct OrbRegistry {
  os::Mutex mutex;
  std::map<std::string, std::shared_ptr<Orb>> orbs CORELANE_GUARDED_BY(mutex);
  std::uint64_t made CORELANE_GUARDED_BY(mutex) = 0;
};
OrbRegistry& registry() {
  static OrbRegistry* const instance = new OrbRegistry;
  return *instance;
}

std::string read_reference_file(const std::string& path) {
  const auto text = os::read_small_file(path, largest_reference_file);
  if (!text) raise(bad_uri, "file://" + text.error().text);
  return text->substr(0, text->find_last_not_of(" \t\r\n") + 1);
}

std::string excerpt(const std::string& text) { return text.size() <= 60 ? text : text.substr(0, 57) + "..."; }

std::shared_ptr<Orb> take_from_registry(const Orb::State& state) {
  OrbRegistry& all = registry();
  const os::LockGuard lock(all.mutex);
  const auto known = all.orbs.find(state.id);
  if (known == all.orbs.end() || &known->second->state() != &state) return nullptr;
  return std::move(all.orbs.extract(known).mapped());
}

// Any fault of the text is a fault of the caller's argument. CORBA 3.3 part 1, 8.2.2.
[[noreturn]] void raise_bad_text(Error error, const std::string& text) {
  error.kind = ErrorKind::bad_param;
  raise(error, std::string(minor::text(error)) + ": " + excerpt(text));
}

// Names the file if the text is the name of one.
[[noreturn]] void raise_no_reference(const std::string& text) {
  const bool is_file = text.size() <= longest_file_name && ::access(text.c_str(), F_OK) == 0;
  raise(bad_uri, std::string(minor::text(minor::bad_uri)) + ": " + excerpt(text) +
                     (is_file ? "; is the file meant? write file://" + text : ""));
}

// Makes the reference that the text says.
ObjectReference<Object> stub_of(std::shared_ptr<Orb> orb, giop::Ior ior, const std::string& text) {
  if (ior.nil()) return nullptr;
  if (const auto fault = giop::fault_of(ior, orb->settings().giop)) raise_bad_text(*fault, text);
  return make_stub<Object>(std::make_shared<Reference>(std::move(orb), std::move(ior)));
}

}  // namespace

Orb::Orb(std::unique_ptr<State> state)
    : state_(std::move(state)), settings_(state_->settings), client_hooks_(state_->client_hooks) {}
Orb::~Orb() = default;

Orb::Initialized Orb::init(int& argc, char* argv[], const std::string& id) {
  if (os::is_guarded_child()) raise(errors::forked);
  os::hold_standard_descriptors();
  auto settings = load_settings(argc, argv, SettingsSources::of_process());
  if (!settings) raise(Error{ErrorKind::bad_param, Completion::no, minor::bad_option}, settings.error().text);
  settings->wait = os::settled(settings->wait);
  settings->executive.best_effort_wait = os::settled(settings->executive.best_effort_wait);
  const std::string name = id.empty() ? settings->id : id;
  OrbRegistry& all = registry();
  const os::LockGuard lock(all.mutex);
  if (const auto known = all.orbs.find(name); known != all.orbs.end()) return {known->second, false};
  if (settings->log_level) os::log::set_level(*settings->log_level);
  if (!settings->tuned_note.empty())
    settings->tuned_elsewhere ? os::log::warn(settings->tuned_note) : os::log::info(settings->tuned_note);
  auto orb = std::shared_ptr<Orb>(new Orb(std::make_unique<State>(++all.made, name, std::move(*settings))));
  all.orbs.emplace(name, orb);
  return {std::move(orb), true};
}

std::shared_ptr<Orb> Orb::first_of_process() {
  OrbRegistry& all = registry();
  const os::LockGuard lock(all.mutex);
  const auto rank = [](const auto& orb) { return std::pair(!orb.first.empty(), orb.second->state().number); };
  const auto first = std::min_element(all.orbs.begin(), all.orbs.end(),
                                      [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return first == all.orbs.end() ? nullptr : first->second;
}

void Orb::State::end() {
  {
    os::UniqueLock lock(mutex);
    const auto here = std::this_thread::get_id();
    if (ender == here) return;  // called from a destructor that end() runs
    if (ender != std::thread::id{}) return changed.wait(lock, [&]() CORELANE_REQUIRES(mutex) { return ended; });
    ender = here;
  }
  try {
    tell_unused_contracts(ContractsFile::Look::ended);
  } catch (const std::bad_alloc&) {
    os::log::warn("no memory to report which contracts were never used");
  }
  // Before the objects are destroyed: handlers of asynchronous calls may be among them, and each handler is notified
  // when its call ends.
  connections.close(os::now() + settings.flush_timeout);
  async_calls.close();
  std::map<std::string, ObjectReference<Object>> references;
  std::shared_ptr<Server> old_server;
  std::shared_ptr<Runtime> old_runtime;
  std::shared_ptr<transport::Transport> old_transport, old_pool;
  std::shared_ptr<RequestTarget> objects;
  {
    const os::LockGuard lock(mutex);
    phase = Phase::destroyed;
    references.swap(initial);
    old_server.swap(server);
    old_runtime.swap(runtime);
    old_transport.swap(sockets);
    old_pool.swap(pooled);
    objects = target;
  }
  changed.notify_all();
  if (objects) objects->close();
  reopener.close();
  references.clear();
  old_server.reset();
  old_pool.reset();
  old_transport.reset();
  if (old_runtime) old_runtime->leave();  // if this was the last ORB of the process, its threads end here
  old_runtime.reset();
  const std::shared_ptr<Orb> self = take_from_registry(*this);  // released after the lock
  const os::LockGuard lock(mutex);
  ended = true;
  fork_guard.reset();
  changed.notify_all();
}

std::string Orb::id() const { return state_->id; }
ClientParts& Orb::client_parts() noexcept { return *state_; }

ObjectReference<Object> Orb::string_to_object(const std::string& text) { return follow(text, max_hops); }

ObjectReference<Object> Orb::follow(const std::string& text, int hops) {
  if (text.starts_with("file://")) {
    if (hops == 0)
      raise(bad_uri, "the reference's file leads through too many others; does it name itself? " + excerpt(text));
    return follow(read_reference_file(text.substr(7)), hops - 1);
  }
  if (text.starts_with("corbaloc:")) {
    const auto location = giop::parse_corbaloc(text, state_->settings.giop);
    if (!location) raise_bad_text(location.error(), text);
    return follow_location(*location, text, hops);
  }
  if (text.starts_with("corbaname:")) return follow_name(text, hops);
  if (text.empty()) raise(bad_uri, "the reference is empty: has the server printed it yet?");
  if (!text.starts_with("IOR:") && !text.starts_with("ior:")) raise_no_reference(text);
  auto ior = giop::parse_ior(text, state_->settings.giop);
  if (!ior) raise_bad_text(ior.error(), text);
  return stub_of(shared_from_this(), std::move(*ior), text);
}

// An address without host and port means this host's nameserver.
ObjectReference<Object> Orb::follow_location(const giop::Corbaloc& location, const std::string& text, int hops) {
  if (location.initial_reference)
    return resolve(location.object_key.empty() ? "NameService" : location.object_key, hops);
  const bool on_host = location.addresses.size() == 1 && location.addresses.front().address.host.empty();
  return stub_of(shared_from_this(),
                 on_host ? on_this_host(location.object_key, state_->settings) : giop::to_ior(location), text);
}

ObjectReference<Object> Orb::follow_name(const std::string& text, int hops) {
  const auto place = giop::parse_corbaname(text, state_->settings.giop);
  if (!place && !place.error().text.empty()) raise(place.error().error, excerpt(text) + ": " + place.error().text);
  if (!place) raise_bad_text(place.error().error, text);
  ObjectReference<Object> context = follow_location(place->context, text, hops);
  return place->name.empty() ? context : resolve_name(context, place->name);
}

std::string Orb::object_to_string(const ObjectReference<Object>& object) {
  if (!object) return giop::to_string(giop::Ior{});
  if (!object->_reference()) raise(Error{ErrorKind::marshal, Completion::no, minor::omg | 4});
  return giop::to_string(object->_reference()->ior());
}

Orb::InvalidName::InvalidName(const std::string& name, const std::string& remark)
    : what_(std::make_shared<const std::string>("CORBA::ORB::InvalidName: no initial reference '" + excerpt(name) +
                                                "'; " + (remark.empty() ? "" : remark + "; or ") +
                                                "name one with -ORBInitRef NAME=REFERENCE")) {}

ObjectReference<Object> Orb::resolve_initial_references(const std::string& name) { return resolve(name, max_hops); }

ObjectReference<Object> Orb::resolve(const std::string& name, int hops) {
  std::string uri;
  {
    const os::LockGuard lock(state_->mutex);
    if (const auto known = state_->initial.find(name); known != state_->initial.end()) return known->second;
  }
  const Settings& settings = state_->settings;
  const auto configured = settings.initial_references.find(name);
  if (configured != settings.initial_references.end())
    uri = configured->second;
  else if (name == "NameService" && !settings.naming.service.empty())
    uri = settings.naming.service;
  else if (!settings.default_initial_reference.empty())
    uri = settings.default_initial_reference + "/" + name;
  else if (name != "NameService")
    throw InvalidName(name);
  if (hops == 0)
    raise(bad_uri, "initial reference " + excerpt(name) + " leads through too many others; does it name itself?");
  ObjectReference<Object> object = uri.empty() ? name_service_of_host() : follow(uri, hops - 1);
  const os::LockGuard lock(state_->mutex);
  return state_->initial.emplace(name, object).first->second;
}

ObjectReference<Object> Orb::name_service_of_host() {
  auto found = nameserver_of_host(shared_from_this());
  if (!found) throw InvalidName("NameService", found.error().why + ": " + found.error().remedy + " naming.service");
  return std::move(*found);
}

void Orb::register_initial_reference(const std::string& name, const ObjectReference<Object>& object) {
  if (name.empty()) throw InvalidName();
  const os::LockGuard lock(state_->mutex);
  state_->initial[name] = object;
}

std::vector<std::string> Orb::list_initial_services() const {
  std::vector<std::string> names;
  const os::LockGuard lock(state_->mutex);
  for (const auto& [name, object] : state_->initial) names.push_back(name);
  for (const auto& [name, uri] : state_->settings.initial_references)
    if (!state_->initial.contains(name)) names.push_back(name);
  return names;
}

void Orb::set_request_target(std::shared_ptr<RequestTarget> target) {
  const os::LockGuard lock(state_->mutex);
  state_->target = std::move(target);
  // PAIR orb.target: release here -> acquire in request_target().
  state_->target_view.store(state_->target.get(), std::memory_order_release);
}

RequestTarget* Orb::request_target() const noexcept {
  // PAIR orb.target: acquire here <- release in set_request_target(). The target lives as long as the ORB's state.
  return state_->target_view.load(std::memory_order_acquire);
}

std::uint64_t Orb::dropped_oneways() const {
  const auto server = state_->serving();
  return server ? server->incidents().dropped_oneways() : 0;
}

std::uint64_t Orb::cut_off_clients() const {
  const auto server = state_->serving();
  return server ? server->incidents().cut_off_clients() : 0;
}

std::uint64_t Orb::abandoned_requests() const {
  const auto server = state_->serving();
  return server ? server->incidents().abandoned_requests() : 0;
}

void Orb::log_servant_exception(const ServantFailure& failure) noexcept {
  if (const auto server = state_->serving()) server->incidents().servant_threw(failure);
}

std::vector<transport::Endpoint> Orb::endpoints() const {
  const os::LockGuard lock(state_->mutex);
  if (!state_->server) return {};
  return state_->server->endpoints();
}

std::shared_ptr<Reference> Orb::make_local_reference(std::string_view type_id, Bytes object_key,
                                                     std::shared_ptr<ActiveObject> object) {
  listen();
  giop::Ior ior{.type_id = std::string(type_id), .profiles = {profile_of(endpoints(), object_key)}};
  if (const auto fault = giop::fault_of(ior, state_->settings.giop))
    raise(*fault, "an object key of " + std::to_string(object_key.size()) + " bytes for the type id " + ior.type_id);
  return std::make_shared<Reference>(shared_from_this(), std::move(ior), std::move(object));
}

}  // namespace corelane::core
