// The echo servant of the omniORB rows.
#pragma once

#include <atomic>
#include <cstddef>
#include <echo.hh>

#include "bench/peers/driver/caller.h"

namespace peers {

inline Octets octets_of(const Peers::Octets& data) { return {data.get_buffer(), std::size_t{data.length()}}; }

class OmniEcho : public POA_Peers::EchoServer {
 public:
  CORBA::LongLong ping(CORBA::LongLong value) override { return value + 1; }
  void push(const Peers::Octets&) override {
    pushed_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a counter that publishes nothing
  }
  CORBA::LongLong pushed() override { return pushed_.load(std::memory_order_relaxed); }  // relaxed: as above
  Peers::Octets* echo(const Peers::Octets& data) override { return new Peers::Octets(data); }
  void put(const Peers::Octets& data) override { check_octets(octets_of(data), data.length()); }
  Peers::Octets* get(CORBA::ULong size) override {
    auto* data = new Peers::Octets(size);
    data->length(size);
    if (size > 0) (*data)[size - 1] = last_octet(size);
    return data;
  }

 private:
  std::atomic<CORBA::LongLong> pushed_{0};
};

}  // namespace peers
