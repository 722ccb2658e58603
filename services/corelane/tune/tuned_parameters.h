// TunedParameter is a setting that `corelane tune` tries values of.
// Threads: none of its own.
//
// The folder services/corelane/tune searches for settings with which a program is faster on this host.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "orb/core/settings.h"
#include "orb/scale/parameter_search.h"

namespace corelane::tool {

struct TunedParameter {
  std::string key{};
  std::vector<std::string> values{};  // the first one is "": the setting is left as it is
};

// Returns the parameters to try beside these settings, on so many cores. Settings that a source sets are left alone.
// Those that admission counts with are only tried above their present value, never below: what was promised with the
// present value still holds.
std::vector<TunedParameter> tuned_parameters(const core::Settings& settings, std::size_t cores);

// Returns the environment variables for the values: "CORELANE_CLIENT_WAIT=park".
std::vector<std::string> variables_for(const std::vector<TunedParameter>& parameters,
                                       const scale::ParameterValues& values);
// Returns what a person reads: "client.wait = park, client.spin = 20us"; "the defaults" if nothing is changed.
std::string text_of_values(const std::vector<TunedParameter>& parameters, const scale::ParameterValues& values);
// Returns the values as sections of a TOML file.
std::string toml_of(const std::vector<TunedParameter>& parameters, const scale::ParameterValues& values);

}  // namespace corelane::tool
