// Tests the page with curves of speed-up.
#include "services/corelane/scale/curve_plot.h"

#include <catch2/catch.hpp>

using namespace corelane::tool;
using Catch::Contains;

namespace curve_plot_test {

TEST_CASE("a page has a line and a table for each curve, and the ideal speed-up") {
  const std::string page = html_of("Speed-up", {{"dup", {{1, 1, {}}, {4, 2, {}}}}, {"fork", {{1, 1, {}}, {4, 4, {}}}}});
  CHECK_THAT(page, Catch::StartsWith("<!DOCTYPE html>"));
  CHECK_THAT(page, Contains("points=\"190.0,290.0 610.0,200.0 \""));  // 1 and 4 of 4 cores, speed-ups 1 and 2 of 4
  CHECK_THAT(page, Contains("points=\"190.0,290.0 610.0,20.0 \""));
  CHECK_THAT(page, Contains("x1=\"50.0\" y1=\"380.0\" x2=\"610.0\" y2=\"20.0\" stroke=\"#888\""));
  CHECK_THAT(page, Contains("<h2>dup</h2>") && Contains("<h2>fork</h2>"));
  CHECK_THAT(page, Contains("<tr><td>4</td><td>2.00</td></tr>"));
}

TEST_CASE("names are escaped, and a page without curves is still one") {
  CHECK_THAT(html_of("a<b&\"c\"", {}), Contains("<h1>a&lt;b&amp;&quot;c&quot;</h1>") && Contains("</html>"));
}

}  // namespace curve_plot_test
