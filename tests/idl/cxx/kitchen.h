// One model with every construct that the back end supports, and with difficult names. Its output is in golden/.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "tests/idl/cxx/model_builder.h"

namespace corelane::idl::test {

class Kitchen {
 public:
  Kitchen() {
    // enum Level { low, high }; struct Pair { Level first; long second; }; interface Global { Level level(); };
    const TypeId level = b_.enumeration("Level", {"low", "high"});
    b_.structure("Pair", {{"first", level}, {"second", long_}});
    b_.open_interface("Global");
    b_.operation("level", level);
    b_.close();

    b_.open_module("Kitchen");
    constants();
    types();
    interfaces();
    b_.close();
    b_.open_module("Kitchen");  // opened again
    keywords();
    b_.open_module("Inner");
    diamond();
    b_.close();
    b_.close();
  }

  const Model& model() const { return b_.model; }

 private:
  // const long limit = 4; and so on: one constant of each type.
  void constants() {
    b_.constant("limit", long_, std::int64_t{4});
    b_.constant("least", b_.basic(TypeKind::int64), std::numeric_limits<std::int64_t>::min());
    b_.constant("most", b_.basic(TypeKind::uint64), std::numeric_limits<std::uint64_t>::max());
    b_.constant("tiny", b_.basic(TypeKind::int16), std::int64_t{-32768});
    b_.constant("mask", b_.basic(TypeKind::octet), std::uint64_t{255});
    b_.constant("enabled", b_.basic(TypeKind::boolean), true);
    b_.constant("quote", b_.basic(TypeKind::character), '\'');
    b_.constant("greeting", b_.string(),
                std::string("say \"hi\"\n\x01"
                            "1"));
    b_.constant("ratio", b_.basic(TypeKind::float32), 0.1);
    b_.constant("whole", double_, 3.0);
    b_.constant("huge", double_, 1e300);
  }

  void types() {
    mode_ = b_.enumeration("Mode", {"idle", "active", "register"});
    b_.constant("initial", mode_, EnumeratorRef{b_.model[mode_].definition, 2});
    samples_ = b_.alias("Samples", b_.sequence(double_));
    count_ = b_.alias("Count", long_);
    b_.constant("several", count_, std::int64_t{7});
    point_ = b_.structure("Point", {{"x", double_}, {"label", b_.string()}, {"samples", samples_}});
    b_.structure("Everything", {{"flag", b_.basic(TypeKind::boolean)},
                                {"letter", b_.basic(TypeKind::character)},
                                {"raw", b_.basic(TypeKind::octet)},
                                {"i8", b_.basic(TypeKind::int8)},
                                {"u8", b_.basic(TypeKind::uint8)},
                                {"i16", b_.basic(TypeKind::int16)},
                                {"u16", b_.basic(TypeKind::uint16)},
                                {"i32", long_},
                                {"u32", b_.basic(TypeKind::uint32)},
                                {"i64", b_.basic(TypeKind::int64)},
                                {"u64", b_.basic(TypeKind::uint64)},
                                {"f32", b_.basic(TypeKind::float32)},
                                {"f64", double_},
                                {"text", b_.string()},
                                {"mode", mode_},
                                {"count", count_},
                                {"point", point_},
                                {"points", b_.sequence(point_)},
                                {"modes", b_.sequence(mode_)},
                                {"flags", b_.sequence(b_.basic(TypeKind::boolean))},
                                {"names", b_.sequence(b_.string())},
                                {"matrix", b_.sequence(samples_)}});
    node_ = b_.open_structure("Node");
    b_.forward(node_);
    b_.set_members(node_, {{"value", long_}, {"children", b_.sequence(node_)}});
    refused_ = b_.exception("Refused", {{"why", b_.string()}, {"code", long_}, {"what", long_}});
    empty_ = b_.exception("Empty", {});
  }

  void interfaces() {
    const TypeId sink = b_.declare_interface("Sink");
    b_.forward(sink);
    const TypeId sinks = b_.alias("Sinks", b_.sequence(sink));
    const TypeId holder = b_.structure("Holder", {{"sink", sink}, {"all", sinks}});
    const TypeId base = b_.open_interface("Base");
    b_.operation("ping", void_);
    b_.close();

    b_.open_interface("Plant", {base});
    const TypeId state = b_.enumeration("State", {"off", "on"});
    const TypeId report = b_.structure("Report", {{"state", state}, {"text", b_.string()}});
    const TypeId reports = b_.alias("Reports", b_.sequence(report));
    const DefId broken = b_.exception("Broken", {{"report", report}});
    b_.constant("size", long_, std::int64_t{16});
    b_.constant("title", b_.string(), std::string("plant"));
    Operation& step = b_.operation(
        "step", double_, {{"reading", double_}, {"state", point_, Direction::inout}, {"mode", mode_, Direction::out}});
    step.raises = {refused_, empty_};
    step.contract.emplace();
    step.contract->period = std::chrono::milliseconds(10);
    step.contract->deadline = std::chrono::milliseconds(8);
    step.contract->budget = std::chrono::microseconds(1500);
    step.contract->jitter = std::chrono::microseconds(800);
    b_.operation("note", void_, {{"text", b_.string()}}).oneway = true;
    b_.operation("subscribe", void_, {{"s", sink}});
    b_.operation("peer", base);
    b_.operation("reports", reports, {{"since", state}, {"last", report, Direction::out}}).raises = {broken};
    b_.operation("swap_sinks", sinks, {{"sinks", sinks, Direction::inout}, {"holder", holder}});
    b_.attribute("count", count_, true);
    b_.attribute("name", b_.string()).set_raises = {refused_};
    b_.attribute("state", state).get_raises = {empty_};
    b_.attribute("best", sink);
    b_.close();

    b_.open_interface(sink);
    b_.operation("push", void_, {{"values", samples_}});
    b_.close();
    sink_alias_ = b_.alias("Drain", sink);
  }

  // Names that C++, the library or the generator use already, and parameters that would hide a definition.
  void keywords() {
    const TypeId cls =
        b_.structure("class", {{"int", long_}, {"int_", long_}, {"swap", b_.string()}, {"class_", long_}});
    const TypeId none = b_.enumeration("template", {"delete", "new", "value"});
    b_.alias("std", b_.sequence(cls));
    b_.exception("encode", {{"encode", long_}, {"decode", b_.string()}});
    b_.constant("value", long_, std::int64_t{1});
    b_.open_interface("operator");
    b_.operation("delete", void_, {{"this", cls}, {"register", none}});
    b_.operation("encode", long_, {{"limit", long_}, {"value", b_.string()}, {"mode", mode_, Direction::out}});
    b_.operation("result", sink_alias_, {{"self", long_}, {"call", long_, Direction::out}, {"Samples", long_}});
    b_.operation("errno", b_.sequence(b_.sequence(cls)), {{"timezone", long_}, {"Kitchen", cls}, {"std", long_}});
    b_.attribute("namespace", long_);
    b_.close();
  }

  // A base whose operations are inherited twice, and a left base without operations of its own.
  void diamond() {
    const TypeId top = b_.open_interface("Top");
    b_.operation("top", void_);
    b_.attribute("depth", long_);
    b_.close();
    const TypeId left = b_.open_interface("Left", {top});
    b_.close();
    const TypeId right = b_.open_interface("Right", {top});
    b_.operation("right", node_, {{"node", node_}});
    b_.close();
    b_.open_interface("Bottom", {left, right});
    b_.operation("bottom", void_);
    b_.close();
    b_.open_interface("Marker");
    b_.close();
  }

  ModelBuilder b_{"kitchen.idl"};
  TypeId void_ = b_.basic(TypeKind::void_);
  TypeId long_ = b_.basic(TypeKind::int32);
  TypeId double_ = b_.basic(TypeKind::float64);
  TypeId mode_{}, samples_{}, count_{}, point_{}, node_{}, sink_alias_{};
  DefId refused_{}, empty_{};
};

}  // namespace corelane::idl::test
