// The tables of a scenario file that say how its tasks are run and compared.
// Threads: constants.
#pragma once

#include <span>

#include "orb/eval/scenario.h"
#include "orb/eval/scenario/field.h"

namespace corelane::eval {

std::span<const Field<Experiment>> experiment_fields() noexcept;
std::span<const Field<Published>> published_fields() noexcept;
std::span<const Field<OverheadFields>> overhead_fields() noexcept;

}  // namespace corelane::eval
