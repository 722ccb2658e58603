#include "bench/concurrency/roles.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/latency/load.h"
#include "bench/locks/contest.h"
#include "bench/locks/locks.h"
#include "bench/servers/orb_of.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "orb/rt/rt.h"
#include "pingS.h"

namespace concurrency {
namespace {

using bench_locks::work;

// What a call does: `section` steps of work under the lock, then `outside` steps.
template <typename Lock>
std::function<void()> with_lock(int section, int outside) {
  struct Shared {
    Lock lock;
    std::uint64_t value = 1;
  };
  return [section, outside, shared = std::make_shared<Shared>()] {
    std::uint64_t own = 1;
    {
      const std::lock_guard<Lock> guard(shared->lock);
      work(shared->value, section);
    }
    work(own, outside);
  };
}

std::function<void()> work_of(const std::string& kind, int section, int outside) {
  if (kind == "mutex") return with_lock<std::mutex>(section, outside);
  if (kind == "spinlock") return with_lock<bench_locks::TicketLock>(section, outside);
  return [steps = section + outside] {
    std::uint64_t own = 1;
    work(own, steps);
  };
}

class Worker : public virtual CORBA::servant_traits<Bench::Echo>::base_type {
 public:
  explicit Worker(std::function<void()> work) : work_(std::move(work)) {}
  std::int64_t ping(std::int64_t value) override {
    work_();
    return value;
  }

 private:
  const std::function<void()> work_;
};

}  // namespace

int serve(const std::vector<std::string>& words) {
  auto orb = servers::orb_of({words.begin() + 3, words.end()});
  auto poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  poa->the_POAManager()->activate();
  auto servant = CORBA::make_reference<Worker>(work_of(words.at(0), std::stoi(words.at(1)), std::stoi(words.at(2))));
  latency::announce(orb->object_to_string(servant->_this()));
  for (std::string line; std::getline(std::cin, line);) {
    std::printf("%d\n", corelane::rt::report(*orb).best_effort_concurrency);
    std::fflush(stdout);
  }
  return 0;
}

int call(const std::vector<std::string>& words) {
  auto orb = servers::orb_of({});
  const auto echo = IDL::traits<Bench::Echo>::narrow(orb->string_to_object(words.at(0)));
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> calls{0};
  std::vector<std::jthread> clients;
  for (int i = 0; i < std::stoi(words.at(1)); ++i)
    clients.emplace_back([&] {
      while (!over.load(std::memory_order_relaxed)) {  // relaxed: nothing else depends on it
        latency::check(1, echo->ping(1));
        calls.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
      }
    });
  auto next = std::chrono::steady_clock::now();
  for (int sample = 0; sample < samples_per_second * std::stoi(words.at(2)); ++sample) {
    next += std::chrono::milliseconds{1000 / samples_per_second};
    std::this_thread::sleep_until(next);
    std::printf("%llu\n", static_cast<unsigned long long>(calls.load(std::memory_order_relaxed)));  // relaxed: a count
    std::fflush(stdout);
  }
  over.store(true, std::memory_order_relaxed);  // relaxed: as above
  return 0;
}

}  // namespace concurrency
