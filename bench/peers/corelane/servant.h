// The echo servant of the Corelane rows.
#pragma once

#include <atomic>

#include "bench/peers/driver/caller.h"
#include "echoS.h"

namespace peers {

class CorelaneEcho : public virtual CORBA::servant_traits<Peers::EchoServer>::base_type {
 public:
  [[gnu::noinline]] std::int64_t ping(std::int64_t value) override { return value + 1; }
  void push(const Peers::Octets&) override {
    pushed_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a counter that publishes nothing
  }
  std::int64_t pushed() override { return pushed_.load(std::memory_order_relaxed); }  // relaxed: as above
  Peers::Octets echo(const Peers::Octets& data) override { return data; }
  void put(const Peers::Octets& data) override { check_octets(data, data.size()); }
  Peers::Octets get(std::uint32_t size) override {
    Peers::Octets data(size);
    if (size > 0) data[size - 1] = last_octet(size);
    return data;
  }

 private:
  std::atomic<std::int64_t> pushed_{0};
};

}  // namespace peers
