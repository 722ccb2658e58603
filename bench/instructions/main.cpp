// corelane-bench-instructions ROW [CALLS]: makes CALLS calls of one kind, on one thread and without waits, so that
// callgrind can count their instructions. Only the instructions inside corelane_measured_calls() count. Calls before it
// warm up everything.
//
//   collocated          an object in the same process, through its reference and the object adapter
//   collocated-direct   the same through corelane::poa::direct()
//   plain               a two-way call of another ORB's object: stub, request, server, servant, reply
//   direct              the same as a job of an admitted task over the task's own connection (dispatch.mode = direct),
//                       without the work of its core's scheduler
//
// Each call is `long long ping(long long)`. bench/instructions/instructions.py runs the program and judges the counts.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/instructions/memory_transport.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/poa/direct.h"
#include "orb/rt/rt.h"
#include "pingS.h"

// callgrind is told this name.
extern "C" [[gnu::noinline]] void corelane_measured_calls(void (*call)(void*), void* state, std::size_t calls) {
  for (std::size_t i = 0; i < calls; ++i) call(state);
}

namespace {

using corelane::bench::MemoryTransport;

constexpr std::size_t warm_up = 200;

class EchoServant final : public virtual CORBA::servant_traits<Bench::Echo>::base_type {
 public:
  std::int64_t ping(std::int64_t value) override { return value + 1; }
};

// An ORB that uses memory as transport; destroyed at the end.
class MemoryOrb {
 public:
  MemoryOrb(const std::string& id, const std::shared_ptr<MemoryTransport>& transport) {
    std::vector<std::string> words{"instructions", "-ORBPoolRealTime",   "off",         "-ORBRuntimeLedger",
                                   "off",          "-ORBEndpointListen", "127.0.0.1:0", "-ORBEndpointLocal",
                                   "off",          "-ORBDispatchMode",   "direct",      "-ORBClientWait",
                                   "park",         "-ORBLogLevel",       "error"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(words.size());
    orb_ = CORBA::ORB_init(argc, argv.data(), id);
    auto& state = orb_->state();
    const std::lock_guard lock(state.mutex);
    state.sockets = transport;
  }
  ~MemoryOrb() { orb_->destroy(); }
  CORBA::ORB* operator->() const { return orb_.get(); }

 private:
  CORBA::object_reference<CORBA::ORB> orb_;
};

struct Ends {
  std::shared_ptr<MemoryTransport> transport;
  MemoryOrb server{"server", transport};
  MemoryOrb client{"client", transport};
  IDL::traits<Bench::Echo>::ref_type here, there;

  explicit Ends(MemoryTransport::Descriptor descriptor) : transport(std::make_shared<MemoryTransport>(descriptor)) {
    const auto poa = IDL::traits<PortableServer::POA>::narrow(server->resolve_initial_references("RootPOA"));
    poa->the_POAManager()->activate();
    here = IDL::traits<Bench::Echo>::narrow(poa->servant_to_reference(CORBA::make_reference<EchoServant>()));
    there = IDL::traits<Bench::Echo>::narrow(client->string_to_object(server->object_to_string(here)));
  }
};

std::int64_t value = 0;

template <typename Call>
void measure(std::size_t calls, Call call) {
  const auto ping = [](void* state) { value = (*static_cast<Call*>(state))(value); };
  for (std::size_t i = 0; i < warm_up; ++i) ping(&call);
  corelane_measured_calls(ping, &call, calls);
  if (value != static_cast<std::int64_t>(warm_up + calls)) throw std::runtime_error("a call gave a wrong result");
}

corelane::rt::Task admitted(const IDL::traits<Bench::Echo>::ref_type& echo) {
  constexpr std::chrono::seconds period{1};
  const corelane::Contract contract{.period = period, .deadline = period, .budget = std::chrono::milliseconds{10}};
  auto task = corelane::rt::admit(echo, {.operation = "ping", .contract = contract});
  if (!task) throw std::runtime_error("the task was refused: " + task.error().text);
  // Meanwhile the task's thread checks its new connection once more, and then sleeps until the end.
  std::this_thread::sleep_for(std::chrono::milliseconds{500});
  return std::move(*task);
}

// Returns the compiler and architecture, such as "GNU 12.2.0 x86_64". The check compares counts only if this is equal.
std::string compiler() {
#if defined(__clang__)
  std::string text = "Clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) + "." +
                     std::to_string(__clang_patchlevel__);
#else
  std::string text = "GNU " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." +
                     std::to_string(__GNUC_PATCHLEVEL__);
#endif
#if defined(__x86_64__)
  text += " x86_64";
#elif defined(__aarch64__)
  text += " aarch64";
#else
  text += " other";
#endif
#if !defined(__OPTIMIZE__)
  text += " without optimization";
#endif
  return text;
}

int run(const std::string& row, std::size_t calls) {
  // A Watcher reads a connection that hides its descriptor, until the connection is bound to the task.
  const Ends ends(row == "direct" ? MemoryTransport::Descriptor::once_watched : MemoryTransport::Descriptor::at_once);
  if (row == "collocated") {
    measure(calls, [&](std::int64_t v) { return ends.here->ping(v); });
  } else if (row == "collocated-direct") {
    const auto direct = corelane::poa::direct(ends.here);
    measure(calls, [&](std::int64_t v) { return direct->ping(v); });
  } else if (row == "plain") {
    measure(calls, [&](std::int64_t v) { return ends.there->ping(v); });
  } else if (row == "direct") {
    const auto task = admitted(ends.there);
    measure(calls, [&](std::int64_t v) { return ends.there->ping(v); });
  } else {
    std::fprintf(stderr, "unknown row '%s'; expected collocated, collocated-direct, plain or direct\n", row.c_str());
    return 2;
  }
  std::printf("%s: %zu calls\n", row.c_str(), calls);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: %s ROW [CALLS], or --compiler\n", argv[0]);
    return 2;
  }
  if (argv[1] == std::string("--compiler")) return std::printf("%s\n", compiler().c_str()) < 0;
  return run(argv[1], argc == 3 ? std::stoul(argv[2]) : 1000);
} catch (const std::exception& fault) {
  std::fprintf(stderr, "%s\n", fault.what());
  return 1;
}
