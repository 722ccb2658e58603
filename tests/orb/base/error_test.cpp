#include "orb/base/error.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <type_traits>

#include "orb/base/minor.h"

using namespace corelane;

namespace {

std::string id_of(std::string_view name) { return "IDL:omg.org/CORBA/" + std::string(name) + ":1.0"; }

}  // namespace

TEST_CASE("an error travels as plain bytes") { STATIC_REQUIRE(std::is_trivially_copyable_v<Error>); }

TEST_CASE("every kind of error has a name of its own that leads back to it") {
  std::set<std::string_view> names;
  for (int i = 0; i < error_kinds; ++i) {
    const auto kind = static_cast<ErrorKind>(i);
    CHECK(names.insert(name_of(kind)).second);
    CHECK(error_kind_of(id_of(name_of(kind))) == kind);
  }
}

TEST_CASE("names are those of the standard") {
  CHECK(name_of(ErrorKind::comm_failure) == "COMM_FAILURE");
  CHECK(name_of(ErrorKind::object_not_exist) == "OBJECT_NOT_EXIST");
  CHECK(name_of(ErrorKind::no_resources) == "NO_RESOURCES");
  CHECK(name_of(ErrorKind::timeout) == "TIMEOUT");
  CHECK(name_of(ErrorKind::bad_qos) == "BAD_QOS");
}

TEST_CASE("a kind that is none is unknown") {
  CHECK(name_of(static_cast<ErrorKind>(error_kinds)) == "UNKNOWN");
  CHECK(name_of(static_cast<ErrorKind>(250)) == "UNKNOWN");
}

TEST_CASE("a repository id that names no system exception is unknown") {
  for (const std::string& id :
       {std::string(), id_of("NOT_ONE"), id_of(""), id_of("comm_failure"), std::string("IDL:omg.org/CORBA/MARSHAL:1.1"),
        std::string("IDL:CORBA/MARSHAL:1.0"), std::string("MARSHAL"), std::string("IDL:omg.org/CORBA/MARSHAL")})
    CHECK(error_kind_of(id) == ErrorKind::unknown);
}

TEST_CASE("completion has the numbers of the wire") {
  CHECK(static_cast<int>(Completion::yes) == 0);
  CHECK(static_cast<int>(Completion::no) == 1);
  CHECK(static_cast<int>(Completion::maybe) == 2);
}

TEST_CASE("minor codes of ours say their cause") {
  for (const std::uint32_t code : {minor::truncated, minor::bad_magic, minor::connect_failed, minor::not_schedulable,
                                   minor::bad_uri, minor::version_mismatch}) {
    CHECK((code & 0xfffff000) == minor::corelane);
    CHECK_FALSE(minor::text(code).empty());
  }
}

TEST_CASE("a minor code of the standard says the cause of its kind of exception") {
  const auto text = [](ErrorKind kind, std::uint32_t code) {
    return std::string(minor::text(Error{kind, Completion::no, minor::omg | code}));
  };
  CHECK(text(ErrorKind::bad_inv_order, 3).find("shutdown(false)") != std::string::npos);
  CHECK(text(ErrorKind::marshal, 1).find("register_value_factory") != std::string::npos);
  CHECK(text(ErrorKind::codeset_incompatible, 1).find("code set") != std::string::npos);
  CHECK(text(ErrorKind::comm_failure, 1).empty());
  const Error ours{ErrorKind::transient, Completion::no, minor::queue_full};
  CHECK(minor::text(ours) == minor::text(minor::queue_full));
}

TEST_CASE("no two minor codes of ours say the same") {
  std::set<std::string_view> texts;
  for (std::uint32_t i = 0; i < 0x1000; ++i)
    if (const std::string_view text = minor::text(minor::corelane + i); !text.empty()) CHECK(texts.insert(text).second);
  CHECK(texts.size() >= 50);
}

TEST_CASE("a minor code of another vendor has no text") {
  CHECK(minor::text(0).empty());
  CHECK(minor::text(minor::omg + 0xfff).empty());
  CHECK(minor::text(minor::corelane).empty());
}
