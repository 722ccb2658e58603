#include <nlohmann/json.hpp>
#include <ostream>

#include "orb/os/clock.h"
#include "services/corelane/naming/naming_session.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

using Corelane::Naming::Change;
using Corelane::Naming::ChangeKind;

constexpr std::uint64_t from_now_on = 0xffff'ffff'ffff'ffff;

const char* word_of_change(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::bound:
      return "bound";
    case ChangeKind::rebound:
      return "rebound";
    default:
      return "unbound";
  }
}

std::string line_of(const Change& change, Format shown_as) {
  const bool context = change.type() == CosNaming::BindingType::ncontext;
  const bool ephemeral = change.lives() == Corelane::Naming::Lifetime::ephemeral;
  if (shown_as == Format::table)
    return format("%-8s ", word_of_change(change.kind())) + plain(change.name()) + (context ? "/" : "") +
           (ephemeral ? "  (goes with its process)" : "");
  const nlohmann::ordered_json json{{"number", change.number()},
                                    {"change", word_of_change(change.kind())},
                                    {"name", change.name()},
                                    {"type", context ? "context" : "object"},
                                    {"lives", ephemeral ? "ephemeral" : "persistent"}};
  return json_line(json);
}

// Returns whether the fault is that of a nameserver that has ended or is stopped. It may come back.
bool is_absence(ErrorKind kind) {
  return kind == ErrorKind::comm_failure || kind == ErrorKind::transient || kind == ErrorKind::timeout ||
         kind == ErrorKind::object_not_exist;
}

// Watch reports the changes at a nameserver, even if that ends and is started again meanwhile.
class Watch {
 public:
  Watch(NamingContextRef root, std::string pattern, std::ostream& err)
      : root_(std::move(root)), pattern_(std::move(pattern)), err_(err) {}

  // Watches from now on.
  void begin() {
    const auto directory = directory_of(root_);
    if (!directory)
      throw NamingFault(
          "this naming service is not Corelane's, and tells no changes; corelane ns list --recursive shows what there "
          "is");
    server_ = directory->nameserver();
    since_ = from_now_on;
    bool lost = false;
    server_->changes(pattern_, since_, lost);
  }

  Corelane::Naming::ChangeList next() try {
    if (away_) return_to();
    bool lost = false;
    auto changes = server_->changes(pattern_, since_, lost);
    if (lost) say("more names changed than the nameserver remembers; corelane ns list shows the current names");
    return changes;
  } catch (const CORBA::SystemException& fault) {
    if (!is_absence(fault.error().kind)) throw;
    if (!away_) say(std::string("the nameserver does not answer, waiting until it does: ") + fault.what());
    away_ = true;
    return {};
  }

 private:
  void return_to() {
    begin();
    away_ = false;
    say("the nameserver answers again, but does not report what changed meanwhile; corelane ns list shows the current "
        "names");
  }
  void say(const std::string& what) { err_ << "corelane ns watch: " << plain(what) << std::endl; }

  const NamingContextRef root_;
  const std::string pattern_;
  std::ostream& err_;
  IDL::traits<Corelane::Naming::Server>::ref_type server_{};
  std::uint64_t since_ = from_now_on;
  bool away_ = false;
};

}  // namespace

int watch_names(const NamingOptions& options, std::ostream& out, std::ostream& err) {
  return with_naming("corelane ns watch", options, NameUse::any, err, [&](NamingSession& session) {
    Watch watch(session.root, options.pattern, err);
    watch.begin();
    err << "watching " << plain(options.pattern) << "\n";
    for (int told = 0; out && (options.changes == 0 || told < options.changes);) {  // until the user ends it
      const auto changes = watch.next();
      for (const Change& change : changes)
        if (options.changes == 0 || told++ < options.changes) out << line_of(change, options.format) << std::endl;
      if (changes.empty()) os::sleep_until(os::now() + options.interval);
    }
    return 0;
  });
}

}  // namespace corelane::tool
