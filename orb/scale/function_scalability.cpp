#include "orb/scale/function_scalability.h"

#include <algorithm>
#include <map>
#include <utility>

namespace corelane::scale {

std::vector<FunctionScalability> function_scalability(std::span<const FunctionTime> one,
                                                      std::span<const FunctionTime> many) {
  std::map<std::string, FunctionScalability> functions;
  for (const FunctionTime& entry : one) functions[entry.function].one += entry.time;
  for (const FunctionTime& entry : many) functions[entry.function].many += entry.time;
  std::vector<FunctionScalability> result;
  double sum = 0;
  for (auto& [name, function] : functions) {
    function.function = name;
    function.value = function.many - function.one;
    sum += std::max(function.value, 0.0);
    result.push_back(std::move(function));
  }
  for (FunctionScalability& function : result)
    if (function.value > 0) function.weight = function.value / sum;
  std::stable_sort(result.begin(), result.end(),
                   [](const FunctionScalability& a, const FunctionScalability& b) { return a.value > b.value; });
  return result;
}

}  // namespace corelane::scale
