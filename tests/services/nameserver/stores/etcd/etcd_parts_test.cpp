// The parts of the etcd store, without an etcd.
#include "services/nameserver/stores/etcd/etcd_address.h"
#include "services/nameserver/stores/etcd/etcd_cache.h"
#include "services/nameserver/stores/etcd/etcd_keys.h"
#include "services/nameserver/stores/http/base64.h"
#include "services/nameserver/stores/open_store.h"
#include "tests/services/nameserver/stores/store_laws.h"
#include "tests/support/quiet.h"

using namespace corelane::nameserver;
using namespace corelane::nameserver::testing;

namespace {

using Kind = Change::Kind;

EtcdEntry name_entry(const EtcdKeys& keys, const std::string& id, const std::string& reference,
                     std::uint64_t modified) {
  return {.key = keys.name(root_context, {id, ""}), .value = etcd_value_of(object_at(reference)), .modified = modified};
}

// Returns kind, id and revision of each change, in a short form to compare.
std::string text_of(const Changes& changes) {
  std::string text;
  for (const Change& change : changes)
    text +=
        std::string(1, "brumd"[static_cast<int>(change.kind)]) + change.name.id + std::to_string(change.revision) + " ";
  return text;
}

}  // namespace

TEST_CASE("base 64 is that of its standard, both ways") {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"},
                                                         {"\xff\xfe", "//4="}};
  for (const auto& [bytes, text] : vectors) {
    CHECK(to_base64(bytes) == text);
    CHECK(from_base64(text) == std::string(bytes));
  }
  for (const char* wrong : {"Z", "Zg", "Zg=", "Z===", "Zm9v!mFy", "====", "=Zg="}) CHECK_FALSE(from_base64(wrong));
}

TEST_CASE("a key of etcd stands for the name that it was made of") {
  const EtcdKeys keys("/here/");
  CHECK(keys.name(0x1f, {"plant", "line 1"}) == "/here/name/000000000000001f/plant|line%201");
  for (const NameComponent& name : {NameComponent{"", ""}, {"a|b", "c/d"}, {"%7c", "\xff\x01"}, {"|", "|"}}) {
    const auto place = keys.place_of(keys.name(77, name));
    REQUIRE(place);
    CHECK(place->context == 77);
    CHECK(place->name == name);
  }
  CHECK(keys.place_of(keys.context(5))->context == 5);
  CHECK_FALSE(keys.place_of(keys.context(5))->name);
}

TEST_CASE("a key of another program stands for nothing") {
  const EtcdKeys keys("/here/");
  for (const char* key : {"/here/next", "/here/format", "/there/name/0000000000000000/a|", "/here/name/0/a|",
                          "/here/name/0000000000000000/a", "/here/name/0000000000000000/%zz|",
                          "/here/name/000000000000000g/a|", "/here/context/0000000000000000/", ""})
    CHECK_FALSE(keys.place_of(key));
}

TEST_CASE("a value in etcd is read back, and one of another program is none") {
  for (const Binding& binding :
       {object_at("IOR:01", "anna"), object_at("\xff%\n\"", "a|b"), context_at(~std::uint64_t{0})})
    CHECK(binding_in(etcd_value_of(binding)) == binding);
  for (const char* wrong :
       {"", "{}", "[1]", "1", R"({"type":"object"})", R"({"type":1,"reference":"","context":"","owner":""})",
        R"({"type":"song","reference":"","context":"0000000000000000","owner":""})",
        R"({"type":"object","reference":"%z","context":"0000000000000000","owner":""})"})
    CHECK_FALSE(binding_in(wrong));
}

TEST_CASE("an etcd is named by its hosts and a prefix") {
  const auto several = parse_etcd_address("http://a:1,[::1]:2,b/some/place");
  REQUIRE(several);
  REQUIRE(several->endpoints.size() == 3);
  CHECK(several->endpoints[0].text() == "a:1");
  CHECK(several->endpoints[1].host == "::1");
  CHECK(several->endpoints[2].text() == "b:2379");
  CHECK(several->prefix == "/some/place/");
  CHECK(parse_etcd_address("http://a")->prefix == "/corelane/names/");
  CHECK(parse_etcd_address("https://a,b")->text() == "https://a:2379,b:2379/corelane/names/");
  CHECK(parse_etcd_address("http://a/")->prefix == "/corelane/names/");
}

TEST_CASE("an address that names no etcd is refused with the correct form") {
  for (const char* wrong :
       {"", "a:2379", "http://", "http://a:,b", "http://a:0", "http://a:65536", "http://a:x", "http://a,,b",
        "http:///x", "http://a b", "https://", "http://[::1", "http://[]:1", "http://["}) {
    const auto refused = parse_etcd_address(wrong);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text.find("http://HOST:PORT[,HOST:PORT...][/PREFIX]") != std::string::npos);
  }
}

TEST_CASE("an etcd that is not there is refused with what to do") {
  const auto refused = open_store("etcd:http://127.0.0.1:1", {.etcd_patience = std::chrono::seconds(0)});
  REQUIRE_FALSE(refused);
  INFO(refused.error());
  CHECK(refused.error().find("the name store http://127.0.0.1:1 cannot be opened: ") == 0);
  CHECK(refused.error().find(": start etcd there, or name another place") != std::string::npos);
}

TEST_CASE("a cache that is loaded anew tells what was missed, in the order of revisions") {
  const EtcdKeys keys("/here/");
  EtcdCache cache(keys, {});
  const EtcdEntry context{.key = keys.context(7), .modified = 3};
  const auto load = [&](const std::vector<EtcdEntry>& all, std::uint64_t revision) {
    return text_of(cache.apply(cache.missed(all, revision), revision));
  };
  CHECK(load({context, name_entry(keys, "b", "1", 5), name_entry(keys, "a", "1", 4)}, 6) == "m3 ba4 bb5 ");
  CHECK(load({context, name_entry(keys, "b", "1", 5), name_entry(keys, "a", "1", 4)}, 7).empty());
  const EtcdEntry inside{.key = keys.name(9, {"x", ""}), .value = etcd_value_of(object_at("1")), .modified = 11};
  CHECK(load({inside, {.key = keys.context(9), .modified = 10}, name_entry(keys, "b", "2", 12)}, 20) ==
        "m10 bx11 rb12 ua20 d20 ");
  CHECK(cache.revision() == 20);
  CHECK(cache.with_tree([](const Tree& tree) { return tree.contexts(); }) == std::vector<ContextId>{9});
  // The revisions of an etcd that was set up anew begin anew. load() returns the differences all the same.
  CHECK(load({inside, {.key = keys.context(9), .modified = 10}, name_entry(keys, "b", "3", 12)}, 13) == "rb12 ");
  CHECK(cache.revision() == 13);
}

TEST_CASE("values that another program writes into etcd are ignored") {
  const corelane::testing::Quiet quiet;
  const EtcdKeys keys("/here/");
  EtcdCache cache(keys, {});
  const std::vector<EtcdEvent> events{{.entry = {.key = "/here/notes", .value = "hello", .modified = 2}},
                                      {.entry = {.key = keys.name(0, {"a", ""}), .value = "hello", .modified = 3}},
                                      {.is_deletion = true, .entry = {.key = keys.name(0, {"b", ""}), .modified = 4}}};
  CHECK(cache.apply(events, 4).empty());
  CHECK(cache.revision() == 4);
  CHECK(cache.entry("/here/notes").value == "hello");
}
