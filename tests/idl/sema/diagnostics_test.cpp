// Tests every rule of the language with IDL that keeps it, and with IDL that breaks it and gets a message:
// tests/idl/sema/diagnostics.txt.
//
// After an intended change, run this program with CORELANE_WRITE_GOLDEN=1. It writes the table and the catalogue anew.
// Then check the difference.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/idl/fault_table.h"

using namespace corelane::idl::test;

namespace {

const std::string table_path = CORELANE_DIAGNOSTICS "/tests/idl/sema/diagnostics.txt";
const std::string catalogue_path = CORELANE_DIAGNOSTICS "/docs/diagnostics.md";

void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

}  // namespace

TEST_CASE("every text of the table is judged as the table says") {
  const std::vector<TableCase> cases = read_table(file_text(table_path));
  if (std::getenv("CORELANE_WRITE_GOLDEN") != nullptr) write(table_path, renewed(cases));
  REQUIRE(cases.size() > 200);
  for (const TableCase& item : read_table(file_text(table_path))) {
    CAPTURE(item.line, item.text);
    CHECK(faults_of(item) == item.faults);
  }
}

TEST_CASE("the catalogue in the documentation is that of the table") {
  const std::string catalogue = catalogue_of(read_table(file_text(table_path)));
  if (std::getenv("CORELANE_WRITE_GOLDEN") != nullptr) write(catalogue_path, catalogue);
  CHECK(file_text(catalogue_path) == catalogue);
}
