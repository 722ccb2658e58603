#include "orb/base/fraction.h"

namespace corelane {

std::string decimal(Fraction fraction) {
  std::string digits = std::to_string(unity.millionths + fraction.millionths % unity.millionths).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  return std::to_string(fraction.millionths / unity.millionths) + (digits.empty() ? "" : "." + digits);
}

}  // namespace corelane
