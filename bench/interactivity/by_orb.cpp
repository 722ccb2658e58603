// Events as oneway calls.
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bench/interactivity/event.h"
#include "deskC.h"
#include "deskS.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"

namespace interactivity {
namespace {

class EditorServant : public virtual CORBA::servant_traits<::Desk::Editor>::base_type {
 public:
  explicit EditorServant(Notebook& notebook) : notebook_(notebook) {}

  void press(std::int64_t due, std::int64_t sent, std::uint32_t key) override {
    const std::lock_guard lock(mutex_);
    if (notebook_.is_full()) return;
    notebook_.note({due, sent, key});
    if (notebook_.is_full()) full_.count_down();
  }
  void wait_until_full() { full_.wait(); }

 private:
  std::mutex mutex_;
  Notebook& notebook_;  // guarded by mutex_
  std::latch full_{1};
};

std::string endpoint_of(Way way) {
  if (way == Way::orb_tcp) return "127.0.0.1:0";
  return way == Way::orb_unix ? "unix:" : "channel:";
}

// Uses a runtime directory of this run, so the ORBs ask no daemon for cores: they run on what was reserved for the
// process. Without SCHED_FIFO, all their threads run under SCHED_OTHER. With it, the reader uses SCHED_FIFO by default,
// and so do the threads that run requests, because of this best-effort server.
std::vector<std::string> options_of(const Route& route) {
  std::vector<std::string> options{"-ORBEndpointListen",   endpoint_of(route.way), "-ORBEndpointLocal", "off",
                                   "-ORBRuntimeDirectory", route.directory,        "-ORBLogLevel",      "error"};
  const std::vector<std::string> policy =
      route.fifo ? std::vector<std::string>{"-ORBBestEffortServer", "sporadic"}
                 : std::vector<std::string>{"-ORBPoolRealTime", "off", "-ORBIoPriority", "0"};
  options.insert(options.end(), policy.begin(), policy.end());
  return options;
}

auto start_orb(const Route& route) {
  std::vector<std::string> words = options_of(route);
  std::vector<char*> arguments{const_cast<char*>("corelane-bench-interactivity")};
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  return CORBA::ORB_init(count, arguments.data());
}

}  // namespace

void edit_by_orb(const Route& route, Notebook& notebook, const Ready& ready) {
  auto orb = start_orb(route);
  auto poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  poa->the_POAManager()->activate();
  auto editor = CORBA::make_reference<EditorServant>(notebook);
  ready(orb->object_to_string(editor->_this()));
  editor->wait_until_full();
  orb->shutdown(true);
}

Sender send_by_orb(const Route& route, const std::string& address) {
  auto orb = start_orb(route);
  auto editor = IDL::traits<::Desk::Editor>::narrow(orb->string_to_object(address));
  return [orb, editor](const Event& event) { editor->press(event.due, event.sent, event.key); };
}

}  // namespace interactivity
