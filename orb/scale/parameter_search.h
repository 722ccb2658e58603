// ParameterSearch looks for the values of a program's parameters with which a measured figure is best, with a given
// number of measurements (auto-tuning). It changes one parameter at a time (coordinate search), and compares in pairs
// of runs: a run of a candidate and a run of the present best, one after the other. So slow changes of the machine
// cancel out. A candidate that loses one of its first pairs is dropped.
//
//   searches ── a candidate wins `pairs_to_win` pairs in a row: it is the present best ──▶ searches
//      │ the runs are used up, or no candidate wins in a whole pass
//      ▼
//   validates: fresh pairs of the present best and the defaults. The best counts only if the lower bound of the 95 %
//      interval of its improvement is above 1. So a value that won by chance is not taken. One pair in which the
//      program fails is repeated.
//
// Threads: a value. Pure: the caller makes the runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace corelane::scale {

// The value of each parameter, as an index into its values. 0 is the default.
using ParameterValues = std::vector<std::size_t>;

struct ParameterSearchOptions {
  int runs = 60;              // of the search, at most
  int validation_pairs = 10;  // at least 2
  bool maximizes = true;      // false: the least figure is best
};

// How much better the best values are than the defaults: a factor, above 1 if better. `low` and `high` are the 95 %
// interval of the geometric mean (Student's t, on the logarithms of the pairs).
struct Improvement {
  double factor = 1, low = 0, high = 0;
  int pairs = 0;
};

// Returns the improvement that the ratios of pairs show. Each is above 0; at least two.
Improvement improvement_of(const std::vector<double>& ratios);

class ParameterSearch {
 public:
  // How many pairs in a row a candidate must win.
  static constexpr int pairs_to_win = 3;

  // `counts`: the number of values of each parameter, at least 1.
  ParameterSearch(std::vector<std::size_t> counts, const ParameterSearchOptions& options);

  // Returns the values of the next run; nothing: the search has ended.
  std::optional<ParameterValues> next() const;
  // Takes the figure of that run; above 0. Nothing: the program failed with these values. Then the candidate is
  // dropped. The validation repeats the pair; the second time it ends.
  void take(std::optional<double> figure);

  bool validates() const noexcept { return phase_ == Phase::validates; }
  // Returns the values that won so far.
  const ParameterValues& best() const noexcept { return best_; }
  // Returns the result of the validation; nothing: it has not ended, or no candidate won.
  const std::optional<Improvement>& improvement() const noexcept { return improvement_; }
  // Returns whether the best values are better than the defaults, so that they should be used.
  bool is_better() const noexcept { return improvement_ && improvement_->low > 1; }
  // What the last call of take() decided about a candidate.
  enum class Event : std::uint8_t { none, dropped, won };
  struct Decision {
    Event event = Event::none;
    std::size_t parameter = 0, value = 0;
    std::vector<double> ratios{};  // of its pairs; empty: the program failed with it
  };
  const Decision& decision() const noexcept { return decision_; }

 private:
  enum class Phase : std::uint8_t { searches, validates, ended };

  const ParameterValues& challenger() const noexcept { return validates() ? best_ : candidate_; }
  // The values that the challenger is compared with.
  ParameterValues rival() const { return validates() ? ParameterValues(counts_.size()) : best_; }
  // The order within pairs alternates.
  bool challenger_is_next() const noexcept { return (ratios_.size() % 2 == 0) == figure_.has_value(); }
  void take_failure();
  void end_pair(double first, double second);
  void judge();
  void decide(Event event);
  void next_candidate();
  bool advance();
  void end_search();
  bool can_afford_pair() const noexcept { return runs_ + 2 <= options_.runs; }

  const std::vector<std::size_t> counts_;
  const ParameterSearchOptions options_;
  Phase phase_ = Phase::searches;
  ParameterValues best_;
  int runs_ = 0;
  // The candidate differs from the best in this parameter only.
  ParameterValues candidate_;
  std::size_t parameter_ = 0, value_ = 0;
  std::size_t unchanged_ = 0;       // candidates in a row that did not win
  bool repeats_ = false;            // a pair of the validation has failed
  std::optional<double> figure_{};  // of the first run of the pair
  std::vector<double> ratios_{};    // of the candidate, or of the validation
  std::optional<Improvement> improvement_{};
  Decision decision_{};
};

}  // namespace corelane::scale
