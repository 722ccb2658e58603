// Tests the page with curves of speed-up.
#include "services/corelane/scale/curve_plot.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

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

TEST_CASE("the legend of a page shows the line and the marker of each curve, below one another") {
  const std::string page = html_of("x", std::vector<PlottedCurve>(32, {"c", {{1, 1, {}}, {4, 2, {}}}}));
  CHECK_THAT(page, Contains("<svg width=\"786\" height=\"548\""));  // 32 lines of the legend are higher than the axes
  CHECK_THAT(page, Contains("<line x1=\"618.0\" y1=\"32.0\" x2=\"658.0\" y2=\"32.0\" stroke-width=\"2\" "
                            "stroke=\"#0072b2\"/>\n<circle cx=\"638.0\" cy=\"32.0\""));
  CHECK_THAT(page, Contains("<line x1=\"618.0\" y1=\"160.0\" x2=\"658.0\" y2=\"160.0\" stroke-width=\"2\" "
                            "stroke=\"#0072b2\" stroke-dasharray=\"10 3\"/>\n<circle"));
  CHECK_THAT(page, Contains("<text x=\"664.0\" y=\"532.0\">c</text>"));
}

TEST_CASE("names are escaped, and a page without curves is still one") {
  CHECK_THAT(html_of("a<b&\"c\"", {}), Contains("<h1>a&lt;b&amp;&quot;c&quot;</h1>") && Contains("</html>"));
}

}  // namespace curve_plot_test
