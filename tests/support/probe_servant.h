// The servant of Probe, and an ORB to serve it, for tests.
#pragma once

#include <pthread.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "orb/core/client/reference.h"
#include "tests/support/probe.h"
#include "tests/support/speechless.h"

namespace corelane::testing {

enum Failure : std::int32_t {
  declared = 0,
  undeclared = 1,
  system_exception = 2,
  not_corba = 3,
  speechless = 4,
  nested = 5,
  as_told = 6
};

class ProbeServant : public virtual CORBA::servant_traits<Probing::Probe>::base_type {
 public:
  void ping() override { ++pings; }
  std::int32_t add(std::int32_t a, std::int32_t b) override { return a + b; }
  double step(double reading, Probing::Point& state, Probing::Mode& mode) override {
    if (reading < 0) throw Probing::Refused("negative", 7);
    state.samples.push_back(reading);
    state.x += reading;
    mode = Probing::Mode::active;
    return state.x;
  }
  std::string echo(const std::string& text) override { return text; }
  void note(const std::string& text) override {
    const std::lock_guard lock(mutex_);
    notes_.push_back(text);
  }
  std::string name() override {
    const std::lock_guard lock(mutex_);
    return name_;
  }
  void name(const std::string& value) override {
    const std::lock_guard lock(mutex_);
    name_ = value;
  }
  CORBA::object_reference<Probing::Probe> pass(CORBA::object_reference<Probing::Probe> other) override { return other; }
  void fail(std::int32_t how) override {
    if (how == declared) throw Probing::Refused("as asked", 42);
    if (how == undeclared) throw Probing::Undeclared();
    if (how == system_exception) throw CORBA::BAD_PARAM(77, CORBA::COMPLETED_YES);
    if (how == speechless) throw Speechless();
    if (how == nested) return next()->fail(system_exception);
    if (how == as_told) return failure()();
    throw std::runtime_error("a secret of the server");
  }
  // Blocks until release() is called.
  void block() override {
    blocked.store(true);
    blocked.notify_all();
    released.wait(false);
    pthread_testcancel();
  }
  std::int32_t paced(std::int32_t number) override { return number; }

  void wait_until_blocked() { blocked.wait(false); }
  void release() {
    released.store(true);
    released.notify_all();
  }
  // Sets what fail(nested) calls. The lock shows the order to TSan, which does not see it over a channel.
  void next(CORBA::object_reference<Probing::Probe> called) {
    const std::lock_guard lock(mutex_);
    next_ = std::move(called);
  }
  // What fail(as_told) runs.
  void failure(std::function<void()> function) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(function);
  }
  std::vector<std::string> notes() {
    const std::lock_guard lock(mutex_);
    return notes_;
  }

  std::atomic<int> pings{0};
  std::atomic<bool> blocked{false};
  std::atomic<bool> released{false};

 private:
  CORBA::object_reference<Probing::Probe> next() {
    const std::lock_guard lock(mutex_);
    return next_;
  }
  std::function<void()> failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

  std::mutex mutex_;
  std::function<void()> failure_;
  CORBA::object_reference<Probing::Probe> next_;
  std::vector<std::string> notes_;
  std::string name_ = "probe";
};

// An ORB that is destroyed with this object. `options`: such as {"-ORBTimeoutRequest", "200ms"}. Unless they say
// otherwise, the ORB uses only TCP, and neither SCHED_FIFO, nor bound threads, nor the host's ledger.
class TestOrb {
 public:
  explicit TestOrb(std::vector<std::string> options = {}) {
    static std::atomic<int> made{0};
    std::vector<std::string> words{"test",  // if an option comes twice, the second one counts
                                   "-ORBPoolRealTime",
                                   "off",
                                   "-ORBRuntimeLedger",
                                   "off",
                                   "-ORBEndpointListen",
                                   "127.0.0.1:0",
                                   "-ORBEndpointLocal",
                                   "off"};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(words.size());
    orb = CORBA::ORB_init(argc, argv.data(), "test" + std::to_string(++made));
  }
  ~TestOrb() { orb->destroy(); }

  CORBA::ORB* operator->() const { return orb.get(); }
  CORBA::object_reference<PortableServer::POA> root() {
    return IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  }

  CORBA::object_reference<CORBA::ORB> orb;
};

// A serving ORB with one active Probe.
class ProbeServer {
 public:
  explicit ProbeServer(std::vector<std::string> options = {})
      : orb(std::move(options)), servant(CORBA::make_reference<ProbeServant>()) {
    orb.root()->the_POAManager()->activate();
    reference = IDL::traits<Probing::Probe>::narrow(orb.root()->servant_to_reference(servant));
  }
  ~ProbeServer() { servant->release(); }
  std::string ior() { return orb->object_to_string(reference); }
  std::vector<std::byte> key() const { return reference->_reference()->address()->object_key; }

  TestOrb orb;
  CORBA::servant_reference<ProbeServant> servant;
  CORBA::object_reference<Probing::Probe> reference;
};

// Returns the same object as another ORB sees it.
inline CORBA::object_reference<Probing::Probe> probe_of(TestOrb& client, const std::string& ior) {
  return IDL::traits<Probing::Probe>::narrow(client->string_to_object(ior));
}

// Returns the same without the call that asks for its type.
inline CORBA::object_reference<Probing::Probe> unchecked_probe(TestOrb& client, const std::string& ior) {
  return core::make_stub<Probing::Probe>(client->string_to_object(ior)->_reference());
}

}  // namespace corelane::testing
