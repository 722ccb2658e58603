// HostKey says for which host a measurement is valid. On another host, kernel or processor the costs differ.
// Threads: any but real-time ones (reads /proc).
#pragma once

#include <string>

namespace corelane::os {

struct HostKey {
  std::string host{};       // its name
  std::string kernel{};     // release and version, as uname(2) reports them
  std::string processor{};  // "" if the kernel does not tell its model

  friend bool operator==(const HostKey&, const HostKey&) = default;
};

HostKey key_of_this_host();

// Returns in what the key of a measurement differs from that of this host, with both values; "" if in nothing.
std::string difference_of(const HostKey& measured, const HostKey& here);

// Returns "" if the kernel does not tell it.
std::string processor_model();

}  // namespace corelane::os
