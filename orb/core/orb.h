// Orb implements CORBA::ORB. It converts references to text and back, knows the initial references, listens for
// clients, and shuts down. CORBA 3.3 part 1, 8.5. The ORBs of a process share one Runtime (executive and reactor).
//
// Threads: any. From inside a servant, destroy() and a shutdown() that waits raise BAD_INV_ORDER.
// Lifetime: an ORB lives until destroy(). References to it may live longer; they then raise BAD_INV_ORDER.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/core/exception.h"
#include "orb/core/object.h"
#include "orb/core/policy_factory.h"
#include "orb/core/type_code_factory.h"
#include "orb/transport/endpoint.h"

namespace corelane::dispatch {
class Executive;
}

namespace corelane::giop {
struct Corbaloc;
}

namespace corelane::core {

class ActiveObject;
class ClientHooks;
class ClientParts;
class Reference;
class RequestTarget;
class ValueFactoryBase;
struct ServantFailure;
struct Settings;

class Orb : public std::enable_shared_from_this<Orb>, public TypeCodeFactory, public PolicyFactory {
 public:
  using _ref_type = Handle<Orb>;

  struct Initialized {
    std::shared_ptr<Orb> orb;
    bool created;  // false: an ORB with this id existed already
  };
  // Implements CORBA::ORB_init. Raises BAD_PARAM bad_option, INITIALIZE.
  static Initialized init(int& argc, char* argv[], const std::string& id);
  ~Orb();

  // Returns the default ORB (id "") of this process if it exists, otherwise the one that was initialized first. Returns
  // null if there is none.
  static std::shared_ptr<Orb> first_of_process();

  std::string id() const;

  // Accepts "IOR:...", "corbaloc:...", "corbaname:..." and "file://path". Raises BAD_PARAM bad_uri with the reason if
  // the text is wrong, and BAD_PARAM if no call through the reference could succeed, see giop::fault_of(). A corbaname
  // is resolved with a remote call, so this also raises what a call raises. It raises
  // BAD_PARAM, OMG minor 10, if the name is not bound.
  ObjectReference<Object> string_to_object(const std::string& text);
  std::string object_to_string(const ObjectReference<Object>& object);

  // Returns the first of these that exists:
  // - a registered reference, such as RootPOA
  // - the reference of -ORBInitRef for this name
  // - for NameService, the reference in naming.service
  // - the result of -ORBDefaultInitRef/name
  // - for NameService, this host's nameserver; it is asked whether it is there
  // Raises InvalidName if there is none.
  ObjectReference<Object> resolve_initial_references(const std::string& name);
  void register_initial_reference(const std::string& name, const ObjectReference<Object>& object);
  using ObjectId = std::string;
  using ObjectIdList = std::vector<ObjectId>;
  ObjectIdList list_initial_services() const;

  // Sets the factory that makes the values of this repository id that arrive, for all ORBs of the process. Returns the
  // previous factory, or nil. Raises BAD_PARAM if `factory` is nil.
  ObjectReference<ValueFactoryBase> register_value_factory(const std::string& id,
                                                           const ObjectReference<ValueFactoryBase>& factory);
  void unregister_value_factory(const std::string& id);
  ObjectReference<ValueFactoryBase> lookup_value_factory(const std::string& id) const;  // nil: none

  // Blocks until the ORB is shut down. Other threads serve the requests, whether run() is called or not.
  void run();
  // Does the same, but returns after `at_most` at the latest. Duration::max() is without end.
  void run(Duration at_most);
  // Stops listening and refuses new requests. Running requests finish. If `wait_for_completion`, returns when they
  // have.
  void shutdown(bool wait_for_completion);
  // Shuts the ORB down, and ends its threads and connections.
  void destroy();
  bool work_pending() const { return false; }  // no work is left to the main thread
  void perform_work() {}
  // Waits for `at_most`, or until the ORB is shut down. For main loops that do other work between two calls.
  void perform_work(Duration at_most) { run(at_most); }

  // The functions below are for the layers above.

  const Settings& settings() const noexcept { return settings_; }
  // Returns the hooks that apply to the calls of this ORB (orb/core/hooks).
  const ClientHooks& client_hooks() const noexcept { return client_hooks_; }
  // Do not keep the result for long. It keeps alive what the executive's threads used, even after the last ORB is
  // destroyed.
  std::shared_ptr<dispatch::Executive> executive();
  // Sets the object that finds the targets of requests. Call it once, before the ORB listens.
  void set_request_target(std::shared_ptr<RequestTarget> target);
  RequestTarget* request_target() const noexcept;
  // Starts to listen. Returns at once if the ORB listens already. Raises the error of the transport or the executive,
  // with the address.
  void listen();
  // Returns the endpoints on which the ORB listens; empty if it does not listen.
  std::vector<transport::Endpoint> endpoints() const;
  // Returns a reference to an object of this process. Calls listen() first, since the reference contains the address.
  // Raises BAD_PARAM key_too_long, string_has_nul.
  std::shared_ptr<Reference> make_local_reference(std::string_view type_id, Bytes object_key,
                                                  std::shared_ptr<ActiveObject> object);

  // Returns the number of oneway requests that arrived and were not run. Their clients get no notice.
  std::uint64_t dropped_oneways() const;
  // Returns the number of client connections that the server closed because of a protocol violation, an exceeded limit,
  // replies that were not read, or an incomplete message.
  std::uint64_t cut_off_clients() const;
  // Returns the number of requests that were not run because their client cancelled them or disconnected before their
  // turn.
  std::uint64_t abandoned_requests() const;
  // Logs an exception that a servant of this process threw and its operation does not declare. Any thread: another
  // thread writes it to the log.
  void log_servant_exception(const ServantFailure& failure) noexcept;

  // The standard user exception of resolve_initial_references(). It has no members; what() contains the name.
  struct InvalidName final : UserException {
    explicit InvalidName(const std::string& name = {}, const std::string& remark = {});
    const char* _rep_id() const noexcept override { return "IDL:omg.org/CORBA/ORB/InvalidName:1.0"; }
    const char* what() const noexcept override { return what_->c_str(); }
    void _raise() const override { throw *this; }

   private:
    void _encode(cdr::Writer&) const override {}
    std::shared_ptr<const std::string> what_;
  };

  struct State;
  State& state() noexcept { return *state_; }
  ClientParts& client_parts() noexcept;

 private:
  // How many files and initial references may refer to one another in a chain.
  static constexpr int max_hops = 8;

  explicit Orb(std::unique_ptr<State> state);
  Expected<void> start_listening();
  void run_until_shutdown(std::optional<Duration> at_most);
  ObjectReference<Object> follow(const std::string& text, int hops);
  ObjectReference<Object> follow_location(const giop::Corbaloc& location, const std::string& text, int hops);
  ObjectReference<Object> follow_name(const std::string& text, int hops);
  ObjectReference<Object> resolve(const std::string& name, int hops);
  ObjectReference<Object> name_service_of_host();

  const std::unique_ptr<State> state_;
  const Settings& settings_;  // this and the next are in state_
  const ClientHooks& client_hooks_;
};

}  // namespace corelane::core
