#include "services/nameserver/client/registration.h"

#include <algorithm>
#include <condition_variable>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "CorelaneNamingC.h"
#include "orb/base/contract.h"
#include "orb/base/thread_safety.h"
#include "orb/core/settings.h"
#include "orb/giop/name_text.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/machine/host.h"
#include "orb/os/mutex.h"
#include "orb/os/thread.h"
#include "services/nameserver/client/bind_leased.h"
#include "services/nameserver/client/cos_name.h"
#include "services/nameserver/client/settings.h"

namespace corelane::naming {
namespace {

namespace idl = Corelane::Naming;
using ContextRef = CORBA::object_reference<CosNaming::NamingContext>;

CosNaming::Name parsed_name(const std::string& text) {
  const auto parsed = giop::parse_name(text);
  if (!parsed) throw CosNaming::NamingContext::InvalidName();
  return cos_name_of(*parsed);
}

idl::Process own_process() {
  const os::HostIdentity& here = os::this_host();
  const os::ProcessIdentity self = os::this_process();
  return idl::Process(here.boot_id, here.pid_namespace, self.pid, self.start_ticks);
}

// Makes the contexts on the way to the name's last component.
void make_contexts_to(const ContextRef& root, const CosNaming::Name& name) {
  for (auto end = name.begin() + 1; end < name.end(); ++end) {
    try {
      root->bind_new_context(CosNaming::Name(name.begin(), end));
    } catch (const CosNaming::NamingContext::AlreadyBound&) {
      // it exists
    }
  }
}

}  // namespace

struct Registration::State {
  // Raises the same exceptions as the constructor of Registration.
  void take(bool replace);
  void say_whose(bool replace);
  bool is_of_another_process() const;
  void renew();
  void look_at_name();
  void register_again();
  void give_back() noexcept;
  void start_thread();
  void begin_renewing();
  void run(const std::stop_token& stop);

  // Constant after construction.
  CORBA::object_reference<CORBA::ORB> orb;
  CosNaming::Name name;
  CORBA::object_reference<CORBA::Object> object;
  RegistrationOptions options;
  std::string text;  // the name in the form for people
  ContextRef root{};
  CORBA::object_reference<idl::Directory> directory{};  // nil if another server of CosNaming is used

  // Thread: the renewing one only, once it renews.
  std::optional<idl::LeaseId> lease{};
  bool is_taken = false;  // another client has the name, and the log already says so

  os::Mutex mutex{};
  bool renews CORELANE_GUARDED_BY(mutex) = false;
  std::condition_variable_any woken{};
  std::jthread thread{};
};

void Registration::State::take(bool replace) {
  if (options.make_contexts) make_contexts_to(root, name);
  say_whose(replace);
  if (!directory) return replace ? root->rebind(name, object) : root->bind(name, object);
  const auto server = directory->nameserver();
  idl::LeaseId fresh{};
  try {
    fresh = server->lease_of(own_process());
  } catch (const idl::Refused&) {
    const auto wanted = std::chrono::duration_cast<std::chrono::milliseconds>(3 * options.renewal).count();
    auto milliseconds = static_cast<std::uint32_t>(wanted);
    fresh = server->lease_for(milliseconds);
    options.renewal = std::min(options.renewal, Duration(std::chrono::milliseconds{milliseconds}) / 3);
  }
  bind_leased(directory, name, object, fresh, replace);
  lease = fresh;  // not before: a lease without the name must not be renewed
}

// Warns that this server takes over a name that is bound already. The server that loses the name logs it too, if it
// uses a Registration.
void Registration::State::say_whose(bool replace) {
  if (!replace) return;
  try {
    if (object->_is_equivalent(root->resolve(name)) && !is_of_another_process()) return;
    const std::string whose = directory ? directory->describe(name).owner() : "";
    os::log::warn(
        "naming: '" + text + "' is bound already" + (whose.empty() ? "" : " (by " + whose + ")") +
        ", and this server takes the name over. If both are copies of one server, end one of them. If you end "
        "this one, the name is gone until the other binds it again, which may take a renewal (" +
        corelane::to_string(options.renewal) +
        "). With naming.replace off (-ORBNamingReplace off) the second one does not start");
  } catch (const CORBA::Exception&) {
    // not bound, or take() reports the fault
  }
}

// Returns whether the name is tied to another process. A copy of this server may have references that are equal to
// those of this one.
bool Registration::State::is_of_another_process() const {
  if (!directory) return false;
  const std::string whose = directory->describe(name).owner();
  return whose.starts_with("process ") && whose != "process " + std::to_string(os::this_process().pid);
}

void Registration::State::renew() try {
  try {
    directory->nameserver()->renew(lease.value());
  } catch (const idl::UnknownLease&) {
    return register_again();
  }
  look_at_name();
} catch (const CORBA::Exception& why) {
  os::log::debug(std::string("naming: the registration is not renewed now: ") + why.what());
}

// Binds the name again if it is free: another client may have replaced it and removed it since.
void Registration::State::look_at_name() {
  try {
    const bool is_others = !object->_is_equivalent(root->resolve(name));
    if (is_others && !is_taken)
      os::log::warn("naming: another process has bound '" + text +
                    "' to another object; this server binds the name again once that binding is removed");
    is_taken = is_others;
  } catch (const CosNaming::NamingContext::NotFound&) {
    if (options.make_contexts) make_contexts_to(root, name);
    directory->bind_leased(name, object, lease.value(), false);
    is_taken = false;
    os::log::info("naming: '" + text + "' was free and is bound to this server again");
  }
}

// Registers again, without replacing whatever the options say, because the present owner bound the name rightfully.
// Called again with each renewal.
void Registration::State::register_again() try {
  take(false);
  is_taken = false;
  os::log::info("naming: '" + text + "' was registered again: the nameserver had forgotten it");
} catch (const CosNaming::NamingContext::AlreadyBound&) {
  if (!std::exchange(is_taken, true))
    os::log::warn("naming: the nameserver had forgotten '" + text + "', and another process has bound it meanwhile");
}

void Registration::State::give_back() noexcept try {
  if (!directory) return root->unbind(name);
  directory->nameserver()->end(lease.value());
} catch (const CORBA::Exception& why) {
  os::log::debug(std::string("naming: the name was not taken away: ") + why.what());
}

void Registration::State::start_thread() {
  auto started = os::plain_thread<std::jthread>([this](const std::stop_token& stop) { run(stop); });
  if (!started) core::raise(started.error());
  thread = std::move(*started);
}

// Lets the thread use the lease from now on.
void Registration::State::begin_renewing() {
  {
    const os::LockGuard lock(mutex);
    renews = true;
  }
  woken.notify_one();
}

// Bound: until the registration's end.
void Registration::State::run(const std::stop_token& stop) {
  os::UniqueLock lock(mutex);
  if (!woken.wait(lock, stop, [this]() CORELANE_REQUIRES(mutex) { return renews; })) return;
  while (!woken.wait_for(lock, stop, options.renewal, [] { return false; }) && !stop.stop_requested()) renew();
}

Registration::Registration(CORBA::object_reference<CORBA::ORB> orb, const std::string& name,
                           CORBA::object_reference<CORBA::Object> object, RegistrationOptions options)
    : state_(new State{std::move(orb), parsed_name(name), std::move(object), options, name}) {
  const auto found = state_->orb->resolve_initial_references("NameService");
  state_->directory = IDL::traits<idl::Directory>::narrow(found);
  state_->root = IDL::traits<CosNaming::NamingContext>::narrow(found);
  if (!state_->root) core::raise(Error{ErrorKind::inv_objref, Completion::no, 0}, "NameService is no naming context");
  // The thread is started first: if it cannot be, no other server loses the name to this registration.
  if (state_->directory) state_->start_thread();
  state_->take(options.replace && state_->orb->settings().services.of<RegistrationSettings>().replace);
  if (state_->directory) state_->begin_renewing();
}

Registration::~Registration() {
  state_->thread = {};
  state_->give_back();
}

bool Registration::ephemeral() const noexcept { return static_cast<bool>(state_->directory); }

}  // namespace corelane::naming
