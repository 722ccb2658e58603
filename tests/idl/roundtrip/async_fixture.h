// What the tests of async.idl share: the object that they call, the handler of its replies, and the ORBs of both.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "asyncAmiC.h"
#include "asyncS.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"

namespace corelane::test::async {

using MachineTraits = CORBA::amic_traits<Async::Machine>;
using HolderRef = IDL::traits<Messaging::ExceptionHolder>::ref_type;

// Stores messages in order; hear() waits for the next one.
class Mailbox {
 public:
  void say(std::string text) {
    const std::lock_guard lock(mutex_);
    said_.push_back(std::move(text));
    changed_.notify_all();
  }
  std::string hear() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !said_.empty(); });
    std::string first = std::move(said_.front());
    said_.erase(said_.begin());
    return first;
  }
  bool is_empty() {
    const std::lock_guard lock(mutex_);
    return said_.empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> said_;
};

class Machine : public virtual CORBA::servant_traits<Async::Machine>::base_type {
 public:
  std::int32_t add(std::int32_t n) override { return sum_ += n; }
  std::string name() override { return "machine"; }
  double compute(double a, Async::Point& p, std::string& text) override {
    if (a < 0) throw Async::Broken("negative", 3);
    p.x(p.x() + 1);
    text = "computed";
    return a * 2;
  }
  std::int32_t level() override { return level_; }
  void level(std::int32_t value) override {
    level_ = value;
    hints.say("level " + std::to_string(value));
  }
  Async::Point where() override { return Async::Point(1, 2); }
  void nothing() override {}
  void nothing_excep() override {}
  void log(const std::string&) override {}
  void sendc_nothing() override {}
  std::int32_t wait_for_release(std::int32_t value) override { return gate.hear(), value; }
  void release() override { gate.say("open"); }
  void hint(const std::string& what) override { hints.say(what); }
  void fail(bool crash) override {
    if (crash) throw std::runtime_error("crash");
    throw CORBA::NO_PERMISSION(7, CORBA::COMPLETED_YES);
  }

  Mailbox gate, hints;

 private:
  std::int32_t sum_ = 0, level_ = 0;
};

inline std::string text_of(const HolderRef& holder) {
  try {
    holder->raise_exception();
  } catch (const Async::Broken& broken) {
    return "Broken " + broken.why() + " " + std::to_string(broken.code());
  } catch (const CORBA::SystemException& fault) {
    const std::string_view id = fault._rep_id();
    const char* const completed = fault.completed() == CORBA::COMPLETED_NO    ? " no"
                                  : fault.completed() == CORBA::COMPLETED_YES ? " yes"
                                                                              : " maybe";
    return std::string(id.substr(id.rfind('/') + 1)) + completed;
  }
}

class Handler : public virtual MachineTraits::replyhandler_base_type {
 public:
  explicit Handler(Mailbox& to) : to_(to) {}
  void add(std::int32_t sum) override { to_.say(std::to_string(sum)); }
  void add_excep(HolderRef holder) override { to_.say("add: " + text_of(holder)); }
  void compute(double result, const Async::Point& p, const std::string& text) override {
    to_.say(std::to_string(static_cast<int>(result)) + " " + std::to_string(p.x()) + " " + text);
  }
  void compute_excep(HolderRef holder) override { to_.say("compute: " + text_of(holder)); }
  void get_level(std::int32_t value) override { to_.say("level " + std::to_string(value)); }
  void get_level_excep(HolderRef) override {}
  void set_level() override { to_.say("set"); }
  void set_level_excep(HolderRef) override {}
  void get_where(const Async::Point& value) override { to_.say("where " + std::to_string(value.y())); }
  void get_where_excep(HolderRef) override {}
  void name(const std::string& value) override { to_.say(value); }
  void name_excep(HolderRef) override {}
  void nothing() override { to_.say("nothing"); }
  void ami_nothing_excep(HolderRef) override {}
  void nothing_excep() override { to_.say("nothing_excep"); }
  void nothing_excep_excep(HolderRef) override {}
  void sendc_nothing() override { to_.say("sendc_nothing"); }
  void sendc_nothing_excep(HolderRef) override {}
  void wait_for_release(std::int32_t value) override { to_.say("released " + std::to_string(value)); }
  void wait_for_release_excep(HolderRef holder) override { to_.say("wait: " + text_of(holder)); }
  void release() override {}
  void release_excep(HolderRef) override {}
  void log() override {}
  void log_excep(HolderRef) override {}
  void hint() override { to_.say("never"); }
  void hint_excep(HolderRef) override { to_.say("never"); }
  void fail() override {}
  void fail_excep(HolderRef holder) override { to_.say("fail: " + text_of(holder)); }

 private:
  Mailbox& to_;
};

class Orb {
 public:
  explicit Orb(const std::string& id, std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"async", "-ORBRuntimeLedger", "off"});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    orb = CORBA::ORB_init(count, arguments.data(), id);
    poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
    poa->the_POAManager()->activate();
  }
  ~Orb() { orb->destroy(); }

  template <typename Servant>
  CORBA::object_reference<CORBA::Object> activate(const Servant& servant) {
    return poa->id_to_reference(poa->activate_object(servant));
  }

  CORBA::object_reference<CORBA::ORB> orb;
  CORBA::object_reference<PortableServer::POA> poa;
};

// A server, and a client with a handler.
class Session {
 public:
  explicit Session(std::vector<std::string> client_words = {}) : client("async-client", std::move(client_words)) {
    machine = stub_of(server.orb->object_to_string(server.activate(servant)));
    handler = handler_in(client);
  }

  MachineTraits::ref_type stub_of(const std::string& reference) {
    return MachineTraits::narrow(client.orb->string_to_object(reference));
  }
  MachineTraits::replyhandler_ref_type handler_in(Orb& orb) {
    return MachineTraits::replyhandler_traits::narrow(orb.activate(CORBA::make_reference<Handler>(mailbox)));
  }

  Mailbox mailbox;
  CORBA::servant_reference<Machine> servant = CORBA::make_reference<Machine>();
  Orb server{"async-server"};
  Orb client;
  MachineTraits::ref_type machine;
  MachineTraits::replyhandler_ref_type handler;
};

}  // namespace corelane::test::async
