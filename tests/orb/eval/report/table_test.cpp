#include "orb/eval/report/table.h"

#include <catch2/catch.hpp>

namespace table_test {

using namespace corelane::eval;

TEST_CASE("columns are as wide as their widest cell, and aligned to the right") {
  CHECK(text_of({.title = "T", .columns = {"a", "long"}, .rows = {{"100", "x"}, {"1", ""}}, .notes = {"n."}}) ==
        "T\n\n  a  long\n100     x\n  1      \n\nn.\n");
}

TEST_CASE("a table without rows and notes is its title and its columns") {
  CHECK(text_of({.title = "T", .columns = {"a"}, .rows = {}, .notes = {}}) == "T\n\na\n");
}

TEST_CASE("long notes are wrapped between words") {
  CHECK(wrapped("") == "\n");
  CHECK(wrapped("a b") == "a b\n");
  const std::string word(50, 'x');
  CHECK(wrapped(word + " " + word) == word + "\n" + word + "\n");
  CHECK(wrapped(word + " " + word.substr(1)) == word + " " + word.substr(1) + "\n");
  CHECK(wrapped(std::string(150, 'y') + " z") == std::string(150, 'y') + "\nz\n");
}

TEST_CASE("wrapped lines may be indented, the first one differently") {
  const std::string word(45, 'x');
  CHECK(wrapped("a b", 3, 5) == "   a b\n");
  CHECK(wrapped(word + " " + word + " " + word, 9, 1) == std::string(9, ' ') + word + " " + word + "\n " + word + "\n");
  CHECK(wrapped(word + " " + word, 10, 1) == std::string(10, ' ') + word + "\n " + word + "\n");
  CHECK(wrapped(std::string(150, 'y') + " z", 2, 4) == "  " + std::string(150, 'y') + "\n    z\n");
}

TEST_CASE("numbers have the digits that were asked for") {
  CHECK(fixed(0.25, 3) == "0.250");
  CHECK(fixed(2, 0) == "2");
}

}  // namespace table_test
