// Orb: CORBA::ORB. Makes references from text and back, knows the initial references, listens, and shuts down.
// CORBA 3.3 part 1, 8.5. Several ORBs of a process share one Runtime (executive, reactor).
//
// Threads: any, but destroy() and a waiting shutdown() not from inside a servant (BAD_INV_ORDER).
// Lifetime: an ORB lives until destroy(); references to it may live longer and then raise BAD_INV_ORDER.
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
class Reference;
class RequestTarget;
class ValueFactoryBase;
struct Settings;

class Orb : public std::enable_shared_from_this<Orb>, public TypeCodeFactory {
 public:
  using _ref_type = Handle<Orb>;

  struct Initialized {
    std::shared_ptr<Orb> orb;
    bool created;  // false: an ORB of this id lived already
  };
  // Behind CORBA::ORB_init. Raises BAD_PARAM bad_option, INITIALIZE.
  static Initialized init(int& argc, char* argv[], const std::string& id);
  ~Orb();

  // Of the ORBs that live: the default one (id ""), or else the one that was initialized first. Null when none lives.
  static std::shared_ptr<Orb> first_of_process();

  std::string id() const;

  // "IOR:...", "corbaloc:...", "corbaname:...", "file://path". Raises BAD_PARAM bad_uri and what is wrong with it. A
  // corbaname is resolved, which raises as a call does, and BAD_PARAM, OMG minor 10, where its name leads nowhere.
  ObjectReference<Object> string_to_object(const std::string& text);
  std::string object_to_string(const ObjectReference<Object>& object);

  // Those registered, RootPOA; those of -ORBInitRef; NameService of naming.service; what -ORBDefaultInitRef/name leads
  // to; NameService at this host's nameserver, which is asked whether it is there. Raises InvalidName.
  ObjectReference<Object> resolve_initial_references(const std::string& name);
  void register_initial_reference(const std::string& name, const ObjectReference<Object>& object);
  using ObjectId = std::string;
  using ObjectIdList = std::vector<ObjectId>;
  ObjectIdList list_initial_services() const;

  // What makes the values of this repository id that arrive, for all ORBs of the process. Returns the one that was
  // there before, or nil. Nil as a factory: BAD_PARAM.
  ObjectReference<ValueFactoryBase> register_value_factory(const std::string& id,
                                                           const ObjectReference<ValueFactoryBase>& factory);
  void unregister_value_factory(const std::string& id);
  ObjectReference<ValueFactoryBase> lookup_value_factory(const std::string& id) const;  // nil: none

  // Returns when the ORB was shut down. Requests are served by threads of their own, with or without it.
  void run();
  // The same, for no longer than that.
  void run(Duration at_most);
  // Stops listening, lets running requests finish, turns new ones away. `wait`: returns when that is done.
  void shutdown(bool wait_for_completion);
  // Also ends threads and connections.
  void destroy();
  bool work_pending() const { return false; }  // no work is ever left to the main thread
  void perform_work() {}
  // Waits so long, or until the ORB is shut down: for main loops that look at something else between two calls.
  void perform_work(Duration at_most) { run(at_most); }

  // For the layers above.

  const Settings& settings() const noexcept;
  // Not for long: whoever has it keeps what its threads worked on when the last ORB is destroyed.
  std::shared_ptr<dispatch::Executive> executive();
  // Where requests go. Set once, before the ORB listens.
  void set_request_target(std::shared_ptr<RequestTarget> target);
  RequestTarget* request_target() const noexcept;
  // Listens from now on; returns at once when it does already. Raises what the transport or the executive say, with the
  // address.
  void listen();
  // Where it listens; empty when it does not.
  std::vector<transport::Endpoint> endpoints() const;
  // A reference to an object of this process. Listens if need be, since the address is in the reference.
  std::shared_ptr<Reference> make_local_reference(std::string_view type_id, Bytes object_key,
                                                  std::shared_ptr<ActiveObject> object);

  // Oneway requests that came and were not run; nobody else hears of it.
  std::uint64_t dropped_oneways() const;
  // Connections of clients that were closed for what the client did or left undone: spoke against the protocol,
  // exceeded a limit, did not read its replies, sent half a message.
  std::uint64_t cut_off_clients() const;
  // Requests that were not run, since their client had cancelled them or was gone before it was their turn.
  std::uint64_t abandoned_requests() const;
  // Logs what a servant of this process threw that its operation does not declare; see Incidents::servant_threw().
  // `answer`: what its caller gets. Any thread: another one writes it to the log.
  void log_servant_exception(std::string_view operation, ErrorKind answer, std::string_view text) noexcept;

  // The standard user exception of resolve_initial_references(). It has no members, so which name it was is in what().
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

 private:
  // Files and initial references may name others, to this depth.
  static constexpr int max_hops = 8;

  explicit Orb(std::unique_ptr<State> state);
  Expected<void> start_listening();
  void run_until_shutdown(std::optional<Duration> at_most);
  ObjectReference<Object> follow(const std::string& text, int hops);
  ObjectReference<Object> follow_location(const giop::Corbaloc& location, int hops);
  ObjectReference<Object> follow_name(const std::string& text, int hops);
  ObjectReference<Object> resolve(const std::string& name, int hops);
  ObjectReference<Object> name_service_of_host();

  const std::unique_ptr<State> state_;
};

}  // namespace corelane::core
