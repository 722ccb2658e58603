#include <algorithm>
#include <set>
#include <utility>

#include "orb/any/type.h"

namespace corelane::any {
namespace {

// Comparison compares two type graphs. They are the same if no walk through both finds a difference. A pair that is
// still being compared counts as the same.
class Comparison {
 public:
  explicit Comparison(bool exact) : exact_(exact) {}

  bool same(const TypeDesc& left, const TypeDesc& right) {
    const TypeDesc& a = exact_ ? left : unaliased(left);
    const TypeDesc& b = exact_ ? right : unaliased(right);
    if (&a == &b) return true;
    if (a.kind != b.kind) return false;
    if (!exact_ && !a.id.empty() && !b.id.empty()) return a.id == b.id;
    if (a.id != b.id && exact_) return false;
    if (exact_ && a.name != b.name) return false;
    if (a.length != b.length || a.digits != b.digits || a.scale != b.scale || a.modifier != b.modifier) return false;
    if (a.default_index != b.default_index || a.members.size() != b.members.size()) return false;
    if (a.content == nullptr && a.members.empty()) return b.content == nullptr;
    if (!compared_.insert({&a, &b}).second) return true;
    if (compared_.size() > most_pairs || depth_ == most_levels) return false;
    ++depth_;
    const bool result = same_parts(a, b);
    --depth_;
    return result;
  }

 private:
  static constexpr std::size_t most_pairs = 65'536;
  static constexpr int most_levels = 1'000;  // for graphs made by a program; received ones have at most 64

  bool same_parts(const TypeDesc& a, const TypeDesc& b) {
    if ((a.content == nullptr) != (b.content == nullptr)) return false;
    if (a.content != nullptr && !same(*a.content, *b.content)) return false;
    return std::ranges::equal(a.members, b.members, [&](const MemberDesc& x, const MemberDesc& y) {
      if (exact_ && x.name != y.name) return false;
      if (x.label != y.label || x.visibility != y.visibility) return false;
      return x.type == y.type || (x.type != nullptr && y.type != nullptr && same(*x.type, *y.type));
    });
  }

  const bool exact_;
  int depth_ = 0;
  std::set<std::pair<const TypeDesc*, const TypeDesc*>> compared_;
};

}  // namespace

bool equal(const TypeDesc& a, const TypeDesc& b) { return Comparison(true).same(a, b); }
bool equivalent(const TypeDesc& a, const TypeDesc& b) { return Comparison(false).same(a, b); }

}  // namespace corelane::any
