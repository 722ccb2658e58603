// Makes CustomPolicies of functions in Python.
// Threads: the functions take Python's lock (GIL) for each call. The caller must not hold it while a set is planned or
// run, or may hold it.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "orb/eval/planning/custom_policies.h"

namespace corelane::python {

// Adds the classes Task and Core, which the functions get.
void define_policy_classes(pybind11::module_& module);

// Returns nothing if both are None. An exception of a function passes through as pybind11::error_already_set. The
// objects must outlive the policies.
std::optional<eval::CustomPolicies> policies_of(const pybind11::object& allocation, const pybind11::object& test);

}  // namespace corelane::python
