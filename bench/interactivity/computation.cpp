#include "bench/interactivity/computation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <random>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace interactivity {
namespace {

using Random = std::minstd_rand;  // the same numbers with every standard library

std::uint64_t mixed(std::uint64_t sum, std::uint64_t value) {
  return std::rotl((sum ^ value) * 0x9e3779b97f4a7c15u, 23);
}

std::string sentence(Random& random, int words) {
  std::string text;
  for (int word = 0; word < words; ++word) {
    for (auto length = 1 + random() % 7; length > 0; --length) text += static_cast<char>('a' + random() % 6);
    text += ' ';
  }
  return text;
}

std::uint64_t count_words(Random& random) {
  std::unordered_map<std::string, std::uint64_t> counts;
  std::istringstream stream(sentence(random, 12'000));
  for (std::string word; stream >> word;) {
    std::reverse(word.begin(), word.end());
    ++counts[word];
  }
  std::uint64_t sum = counts.size();
  for (const auto& [word, count] : counts) sum += count * count * word.size();  // order does not matter
  return sum;
}

struct Body {
  std::array<double, 3> at, speed;
  double mass;
};

void pull(Body& a, Body& b, double step) {
  std::array<double, 3> apart{};
  double square = 1e-3;
  for (std::size_t i = 0; i < 3; ++i) apart[i] = a.at[i] - b.at[i], square += apart[i] * apart[i];
  const double force = step / (square * std::sqrt(square));
  for (std::size_t i = 0; i < 3; ++i) {
    a.speed[i] -= apart[i] * b.mass * force;
    b.speed[i] += apart[i] * a.mass * force;
  }
}

std::uint64_t move_planets(Random& random) {
  std::array<Body, 6> bodies{};
  const auto number = [&] { return static_cast<double>(random() % 2000) / 1000 - 1; };
  for (Body& body : bodies) body = {{number(), number(), number()}, {number(), number(), number()}, 1 + number() / 2};
  for (int step = 0; step < 12'000; ++step) {
    for (std::size_t i = 0; i < bodies.size(); ++i)
      for (std::size_t j = i + 1; j < bodies.size(); ++j) pull(bodies[i], bodies[j], 1e-4);
    for (Body& body : bodies)
      for (std::size_t i = 0; i < 3; ++i) body.at[i] += body.speed[i] * 1e-4;
  }
  return std::bit_cast<std::uint64_t>(bodies[0].at[0]);
}

std::uint64_t mandelbrot(int side) {
  std::uint64_t sum = 0;
  for (int row = 0; row < side; ++row)
    for (int column = 0; column < side; ++column) {
      const double cx = 3.0 * column / side - 2, cy = 2.0 * row / side - 1;
      double x = 0, y = 0;
      for (int i = 0; i < 100 && x * x + y * y < 4; ++i, ++sum) {
        const double next = x * x - y * y + cx;
        y = 2 * x * y + cy, x = next;
      }
    }
  return sum;
}

std::uint64_t sort_numbers(Random& random) {
  std::vector<std::uint32_t> numbers(30'000);
  for (auto& number : numbers) number = static_cast<std::uint32_t>(random());
  std::sort(numbers.begin(), numbers.end());
  return mixed(numbers.front(), numbers[numbers.size() / 3]);
}

}  // namespace

std::uint64_t compute(unsigned laps) {
  Random random(1);
  std::uint64_t sum = 0;
  for (unsigned lap = 0; lap < laps; ++lap)
    for (const std::uint64_t value : {count_words(random), move_planets(random), mandelbrot(150), sort_numbers(random)})
      sum = mixed(sum, value);
  return sum;
}

}  // namespace interactivity
