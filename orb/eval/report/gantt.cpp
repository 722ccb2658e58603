#include "orb/eval/report/gantt.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <set>

#include "orb/eval/report/svg.h"
#include "orb/eval/report/table.h"
#include "orb/eval/report/ticks.h"

namespace corelane::eval {
namespace {

constexpr double gantt_width = 1080, row_height = 26, bar_height = 18, rows_top = 46;
constexpr double bars_left = 70, bars_right = 1036, gantt_legend_step = 18, legend_box = 10;
constexpr double gantt_title_y = 18, gantt_title_step = 15;
constexpr int axis_parts = 10;

double milliseconds_of(Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

// GanttPainter draws one stretch.
class GanttPainter {
 public:
  explicit GanttPainter(const Gantt& gantt) : gantt_(gantt) {
    const JobRecord& late = gantt.late;
    const Duration end = late.finish == Duration::max() ? late.deadline : std::max(late.finish, late.deadline);
    const Duration margin = (end - late.release) / 40;
    from_ = std::max(Duration::zero(), late.release - margin);
    to_ = end + margin;
  }

  std::string svg() const {
    const std::vector<std::string> title = lines_of(gantt_.title, bars_right - bars_left);
    const double above = gantt_title_step * static_cast<double>(title.size() - 1);  // the lines before the last one
    const double bottom = rows_top + row_height * static_cast<double>(gantt_.cores.size());
    const Legend legend = legend_from(bottom + 44);
    std::string text = "<svg viewBox=\"0 " + svg_number(0 - above) + " " + svg_number(gantt_width) + " " +
                       svg_number(above + legend.bottom) + "\" role=\"img\" aria-label=\"" + escaped(gantt_.title) +
                       "\">\n" + svg_lines(bars_left, gantt_title_y - above, gantt_title_step, title);
    for (std::size_t i = 0; i < gantt_.cores.size(); ++i) text += row(i);
    return text + axis(bottom) + marks(bottom) + legend.svg + "</svg>\n";
  }

 private:
  struct Legend {
    std::string svg{};
    double bottom = 0;
  };

  double x_of(Duration time) const {
    const double part = milliseconds_of(time - from_) / milliseconds_of(to_ - from_);
    return bars_left + (bars_right - bars_left) * std::clamp(part, 0.0, 1.0);
  }

  bool is_shown(const sim::ExecutedSlice& slice) const {
    return slice.end.time_since_epoch() > from_ && slice.begin.time_since_epoch() < to_;
  }

  std::set<std::size_t> tasks_shown() const {
    std::set<std::size_t> tasks{gantt_.late.task};
    for (const sim::ExecutedSlice& slice : gantt_.slices)
      if (is_shown(slice)) tasks.insert(slice.task);
    return tasks;
  }

  std::string row(std::size_t index) const {
    const double y = rows_top + row_height * static_cast<double>(index);
    std::string text = svg_text(bars_left - 8, y + 14, "end", "core " + std::to_string(gantt_.cores[index].value)) +
                       svg_line(bars_left, y + bar_height, bars_right, y + bar_height, "grid");
    for (const sim::ExecutedSlice& slice : gantt_.slices)
      if (slice.core == gantt_.cores[index] && is_shown(slice)) text += bar(slice, y);
    return text;
  }

  std::string bar(const sim::ExecutedSlice& slice, double y) const {
    const double left = x_of(slice.begin.time_since_epoch()), right = x_of(slice.end.time_since_epoch());
    const double width = std::max(right - left, 0.5);
    return "<rect x=\"" + svg_number(left) + "\" y=\"" + svg_number(y) + "\" width=\"" + svg_number(width) +
           "\" height=\"" + svg_number(bar_height) + "\" fill=\"" + std::string(color_of(slice.task)) + "\"" +
           (is_late(slice) ? " class=\"late\"" : "") + "><title>" + escaped(gantt_.tasks[slice.task]) + ", job " +
           std::to_string(slice.number) + ": " + fixed(milliseconds_of(slice.begin.time_since_epoch()), 3) + " to " +
           fixed(milliseconds_of(slice.end.time_since_epoch()), 3) + " ms</title></rect>\n" +
           stripes(slice.task, left, y, width, bar_height);
  }

  bool is_late(const sim::ExecutedSlice& slice) const {
    return slice.task == gantt_.late.task && slice.number == gantt_.late.number;
  }

  // Returns white stripes along a bar. Their number tells tasks of one color apart: none to three.
  static std::string stripes(std::size_t task, double left, double top, double width, double height) {
    const std::size_t count = task / color_count % 4;
    std::string text;
    for (std::size_t i = 1; i <= count; ++i) {
      const double y = top + height * static_cast<double>(i) / static_cast<double>(count + 1);
      text += "<path d=\"M" + svg_number(left) + " " + svg_number(y) + "h" + svg_number(width) +
              "\" stroke=\"#fff\" pointer-events=\"none\"/>\n";
    }
    return text;
  }

  std::string axis(double bottom) const {
    std::string text;
    for (const double tick : linear_ticks(milliseconds_of(from_), milliseconds_of(to_), axis_parts)) {
      const double x = x_of(duration_cast<Duration>(std::chrono::duration<double, std::milli>(tick)));
      text += svg_line(x, bottom - 6, x, bottom, "axis") + svg_text(x, bottom + 14, "middle", tick_text(tick) + " ms");
    }
    return text;
  }

  std::string mark(Duration time, double bottom, const std::string& name, const std::string& anchor) const {
    const double x = x_of(time);
    return svg_line(x, rows_top - 8, x, bottom, "mark") + svg_text(x, rows_top - 12, anchor, name);
  }

  std::string marks(double bottom) const {
    const JobRecord& late = gantt_.late;
    const bool is_right = x_of(late.deadline) > (bars_left + bars_right) / 2;
    std::string text = mark(late.release, bottom, "release", "end") +
                       mark(late.deadline, bottom, "deadline", is_right ? "end" : "start");
    if (late.finish != Duration::max()) text += mark(late.finish, bottom, "end", "start");
    return text;
  }

  // Returns the late job and the tasks, in columns of the same width.
  Legend legend_from(double top) const {
    const std::string late =
        "late: job " + std::to_string(gantt_.late.number) + " of " + gantt_.tasks[gantt_.late.task];
    const std::set<std::size_t> tasks = tasks_shown();
    double widest = text_width(late);
    for (const std::size_t task : tasks) widest = std::max(widest, text_width(gantt_.tasks[task]));
    const double column = legend_box + 4 + widest + 12;
    const auto columns = static_cast<std::size_t>(std::max(1.0, std::floor((gantt_width - bars_left) / column)));
    Legend legend;
    std::size_t place = 0;
    const auto add = [&](std::size_t task, const std::string& css_class, const std::string& name) {
      const double x = bars_left + column * static_cast<double>(place % columns);
      const double y = top + gantt_legend_step * static_cast<double>(place / columns);
      legend.svg += "<rect x=\"" + svg_number(x) + "\" y=\"" + svg_number(y - 9) +
                    "\" width=\"10\" height=\"10\" fill=\"" + std::string(color_of(task)) + "\"" + css_class + "/>\n" +
                    stripes(task, x, y - 9, legend_box, legend_box) + svg_text(x + legend_box + 4, y, "start", name);
      legend.bottom = y + gantt_legend_step;
      ++place;
    };
    add(gantt_.late.task, " class=\"late\"", late);
    for (const std::size_t task : tasks) add(task, "", gantt_.tasks[task]);
    return legend;
  }

  const Gantt& gantt_;
  Duration from_{}, to_{};
};

}  // namespace

std::string svg_of(const Gantt& gantt) { return GanttPainter(gantt).svg(); }

}  // namespace corelane::eval
