#include "idl/cxx/async/ami_clashes.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "idl/cxx/async/ami.h"
#include "idl/cxx/async/async.h"
#include "idl/cxx/calls/calls.h"
#include "idl/cxx/definitions/interfaces.h"

namespace corelane::idl::cxx {
namespace {

constexpr const char* remedy = "; rename one, or compile without --ami";

class Clashes {
 public:
  explicit Clashes(const Model& implied) : model_(implied), spelling_(implied) {}

  std::optional<std::string> in(DefId handler) const {
    auto found = between_replies(handler);
    return found ? found : between_sends(handler);
  }

 private:
  std::string quoted(DefId id) const { return "`" + model_[id].scoped_name + "`"; }
  DefId served(DefId handler) const { return interface_of(spelling_, handler).replies_of; }

  std::optional<std::string> between_replies(DefId handler) const {
    std::map<std::string, DefId> known;
    for (const DefId ancestor : interface_of(spelling_, handler).ancestors) {
      for (const Operation& reply : interface_of(spelling_, ancestor).operations) {
        const auto [first, is_new] = known.emplace(reply.name, ancestor);
        if (is_new) continue;
        return "asynchronous calls of " + quoted(served(first->second)) + " and of " + quoted(served(ancestor)) +
               " both have a reply called `" + reply.name + "`, so one handler cannot hear both" + remedy;
      }
    }
    return std::nullopt;
  }

  // Returns a conflict between the sendc_ functions of a stub and the functions of its bases. A stub may declare again
  // what its bases declare for the same call.
  std::optional<std::string> between_sends(DefId handler) const {
    struct Meaning {
      DefId declared_in;
      std::string sent;
    };
    std::map<std::string, Meaning> known;
    for (const Call& call : all_calls_of(spelling_, served(handler)))
      for (const std::string& name : {call.wire_name, call.name}) known.emplace(name, Meaning{call.declared_in, {}});
    std::vector<DefId> handlers = construction_order(model_, handler);
    handlers.push_back(handler);
    for (const DefId one : handlers) {
      for (const Send& send : sends_of(spelling_, one)) {
        const auto [first, is_new] = known.emplace(send.name, Meaning{send.call.declared_in, send.call.wire_name});
        if (is_new || first->second.sent == send.call.wire_name) continue;
        return "asynchronous calls of " + quoted(send.call.declared_in) + " are made by `" + send.name + "`, which " +
               quoted(first->second.declared_in) + " has, too" + remedy;
      }
    }
    return std::nullopt;
  }

  const Model& model_;
  const Spelling spelling_;
};

}  // namespace

std::vector<Unsupported> clashing_async_names(const Model& model) {
  const Model implied = with_reply_handlers(model);
  const Clashes clashes(implied);
  std::vector<Unsupported> found;
  for (std::size_t i = 0; i < implied.definitions.size(); ++i) {
    const Definition& definition = implied.definitions[i];
    const auto* handler = std::get_if<Interface>(&definition.body);
    if (handler == nullptr || handler->replies_of == DefId::none || !model.is_main(handler->replies_of)) continue;
    if (auto clash = clashes.in(static_cast<DefId>(i))) found.push_back({definition.place, std::move(*clash)});
  }
  return found;
}

}  // namespace corelane::idl::cxx
