#include "services/nameserver/stores/http/host_lookup.h"

#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstring>
#include <exception>
#include <optional>
#include <thread>

#include "orb/base/minor.h"
#include "orb/base/thread_safety.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/os/lock.h"
#include "orb/os/mutex.h"
#include "orb/os/thread.h"
#include "services/nameserver/stores/http/socket_wait.h"

namespace corelane::nameserver {
namespace {

constexpr Duration good_for = std::chrono::seconds{60};

Expected<HostAddresses, std::string> ask_system(const HttpEndpoint& endpoint, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* raw = nullptr;
  const int failure = getaddrinfo(endpoint.host.c_str(), endpoint.port.c_str(), &hints, &raw);
  if (failure != 0) return std::string(gai_strerror(failure));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(raw, &freeaddrinfo);
  HostAddresses found;
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    HostAddress& address = found.emplace_back();
    address.length = entry->ai_addrlen;
    std::memcpy(&address.native, entry->ai_addr, entry->ai_addrlen);
  }
  return found;
}

}  // namespace

// One question to the resolver. The threads in find() and the thread that asks the resolver share it.
struct HostLookup::Question {
  const os::Fd answered{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};  // readable from the answer on: nobody reads it
  os::Mutex mutex;
  std::optional<Expected<HostAddresses, std::string>> answer CORELANE_GUARDED_BY(mutex);

  void say(Expected<HostAddresses, std::string> said) {
    {
      const os::LockGuard lock(mutex);
      answer = std::move(said);
    }
    eventfd_write(answered.get(), 1);
  }
};

HostLookup::HostLookup() : HostLookup([](const HttpEndpoint& endpoint) { return ask_system(endpoint, 0); }) {}
HostLookup::HostLookup(Resolver resolver) : resolver_(std::move(resolver)) {}
HostLookup::~HostLookup() = default;

Expected<HostAddresses, std::string> HostLookup::find(const HttpEndpoint& endpoint, Time deadline, int stop) {
  if (auto numeric = ask_system(endpoint, AI_NUMERICHOST)) return numeric;
  std::shared_ptr<Question> question;
  {
    const os::LockGuard lock(mutex_);
    Known& known = known_[endpoint.text()];
    if (known.good_until > os::now()) return known.addresses;
    if (!known.asked) known.asked = ask(endpoint);
    question = known.asked;
  }
  wait_for_socket(question->answered.get(), POLLIN, stop, deadline);
  return take(endpoint, question);
}

std::shared_ptr<HostLookup::Question> HostLookup::ask(const HttpEndpoint& endpoint) {
  auto question = std::make_shared<Question>();
  const auto ask_resolver = [question, resolver = resolver_, endpoint] {
    try {
      question->say(resolver(endpoint));
    } catch (const std::exception& failure) {
      question->say(std::string(failure.what()));
    }
  };
  auto asking = os::plain_thread<std::thread>(ask_resolver);
  if (asking)
    asking->detach();
  else
    question->say("the resolver cannot be asked: " + std::string(minor::text(asking.error().minor)));
  return question;
}

Expected<HostAddresses, std::string> HostLookup::take(const HttpEndpoint& endpoint,
                                                      const std::shared_ptr<Question>& question) {
  const os::LockGuard lock(mutex_);
  Known& known = known_[endpoint.text()];
  std::string why = "the resolver of names does not answer";
  {
    const os::LockGuard answering(question->mutex);
    if (question->answer) {
      // Another thread may have taken the answer already. What happened since then counts more.
      const bool is_news = known.asked == question;
      if (is_news) known.asked.reset();
      if (!*question->answer) {
        why = question->answer->error();
      } else if (is_news) {
        known.addresses = **question->answer;
        known.good_until = os::now() + good_for;
      }
    }
  }
  if (!known.addresses.empty()) return known.addresses;
  return "its address is not known: " + why;
}

void HostLookup::distrust(const HttpEndpoint& endpoint) {
  const os::LockGuard lock(mutex_);
  if (const auto known = known_.find(endpoint.text()); known != known_.end()) known->second.good_until = {};
}

}  // namespace corelane::nameserver
