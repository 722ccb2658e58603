// measure_host() measures the host card of this host: offsets of clocks, and costs of hand-overs, migrations, wake-ups
// and the kernel's load balancer. What cannot be measured is left out, with the reason.
//
// Threads: starts its own, on the cores that this process may use, and waits for them. While it runs, these cores are
// busy above all ordinary programs.
//
// The folder services/corelane/host_card measures the costs of this host. The files clock_exchange, wake_parts and
// card_text only compute; the others measure.
#pragma once

#include <functional>
#include <string>

#include "orb/eval/host_card/host_card.h"

namespace corelane::tool {

struct MeasureHostOptions {
  bool thorough = false;  // minutes instead of seconds
  // Is told what is measured next, before each part.
  std::function<void(const std::string& what)> progress = [](const std::string&) {};
};

eval::HostCard measure_host(const MeasureHostOptions& options);

}  // namespace corelane::tool
