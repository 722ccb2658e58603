#include "services/reserved/accounts/resource_book.h"

#include <algorithm>
#include <utility>

#include "orb/base/text/counted.h"

namespace corelane::reserved {
namespace {

constexpr std::array<const char*, all_resources.size()> names{"memory", "cache", "disk"};

Refusal refusal(RefusalKind kind, const ResourceWanted& wanted, const std::string& text) {
  return {.kind = kind, .reason = std::string(name_of(wanted.which)) + ": " + text};
}

}  // namespace

const char* name_of(Resource resource) noexcept { return names[static_cast<std::size_t>(resource)]; }

std::string amount_text(Resource which, std::uint64_t amount) {
  if (which == Resource::disk) return "weight " + std::to_string(amount);
  if (which == Resource::cache) return counted(amount, "way");
  constexpr std::array<std::pair<std::uint64_t, const char*>, 3> units{
      {{1ULL << 30, " GiB"}, {1ULL << 20, " MiB"}, {1ULL << 10, " KiB"}}};
  for (const auto& [size, unit] : units)
    if (amount != 0 && amount % size == 0) return std::to_string(amount / size) + unit;
  return counted(amount, "byte");
}

ResourceBook::ResourceBook() { offer({}); }

void ResourceBook::offer(std::vector<ResourceOffer> offers) {
  offers_.clear();
  for (const Resource which : all_resources) {
    const auto found = std::ranges::find(offers, which, &ResourceOffer::which);
    offers_.push_back(
        found != offers.end() ? *found : ResourceOffer{.which = which, .meaning = "this server reserves none of it"});
  }
}

// ---- Requests ----

std::optional<Refusal> ResourceBook::fault_of(const std::vector<ResourceWanted>& wanted, Extent extent) const {
  for (const ResourceWanted& one : wanted) {
    if (extent == Extent::thread)
      return refusal(RefusalKind::bad_request, one,
                     "only a process or a process tree can have it, not one thread; ask for the process");
    if (std::ranges::count(wanted, one.which, &ResourceWanted::which) > 1)
      return refusal(RefusalKind::bad_request, one, "asked for twice; say one amount");
    if (auto fault = fault_of(one)) return fault;
  }
  return std::nullopt;
}

std::optional<Refusal> ResourceBook::fault_of(const ResourceWanted& wanted) const {
  const ResourceOffer& offer = offer_of(wanted.which);
  if (offer.most == 0) return refusal(RefusalKind::system_refused, wanted, offer.meaning);
  if (wanted.amount < offer.least)
    return refusal(RefusalKind::bad_request, wanted,
                   amount_text(wanted.which, wanted.amount) + " is too little; the least is " +
                       amount_text(wanted.which, offer.least));
  if (offer.promise == ResourcePromise::best_effort && !wanted.best_effort)
    return refusal(RefusalKind::system_refused, wanted,
                   offer.meaning + "; with --best-effort (best_effort of the request) it is given as that");
  if (wanted.amount <= offer.most) return std::nullopt;
  const std::string most = amount_text(wanted.which, offer.most);
  Refusal over = refusal(RefusalKind::never_fits, wanted, "this host has " + most + " to give at most");
  over.fits = most;
  return over;
}

std::uint64_t ResourceBook::room(Resource which) const noexcept {
  const ResourceOffer& offer = offer_of(which);
  if (offer.promise == ResourcePromise::proportional) return offer.most;
  return offer.most - std::min(offer.most, promised(which) + held(which));
}

const ResourceWanted* ResourceBook::lacking(const std::vector<ResourceWanted>& wanted) const {
  const auto found =
      std::ranges::find_if(wanted, [&](const ResourceWanted& one) { return one.amount > room(one.which); });
  return found == wanted.end() ? nullptr : &*found;
}

bool ResourceBook::has_room(const std::vector<ResourceWanted>& wanted) const { return lacking(wanted) == nullptr; }

std::string ResourceBook::lack_text(const std::vector<ResourceWanted>& wanted) const {
  const ResourceWanted* const lack = lacking(wanted);
  if (lack == nullptr) return {};
  const auto text_of = [&](std::uint64_t amount) { return amount_text(lack->which, amount); };
  const std::uint64_t kept = held(lack->which);
  return std::string(name_of(lack->which)) + ": of " + text_of(offer_of(lack->which).most) + " " +
         text_of(promised(lack->which)) + " are promised to others" +
         (kept == 0 ? "" : ", and " + text_of(kept) + " not taken back yet from reservations that ended") +
         "; wait in the queue (corelane reserve --wait), or ask for what fits; corelane cores shows which process has "
         "which cores";
}

std::string ResourceBook::fit_text(const std::vector<ResourceWanted>& wanted) const {
  const ResourceWanted* const lack = lacking(wanted);
  if (lack == nullptr || room(lack->which) < offer_of(lack->which).least) return {};
  return amount_text(lack->which, room(lack->which)) + " of " + name_of(lack->which);
}

// ---- What is promised ----

void ResourceBook::book(const std::vector<ResourceWanted>& wanted) {
  for (const ResourceWanted& one : wanted) booked_[static_cast<std::size_t>(one.which)] += one.amount;
}

void ResourceBook::give_back(const std::vector<ResourceWanted>& wanted) {
  for (const ResourceWanted& one : wanted) booked_[static_cast<std::size_t>(one.which)] -= one.amount;
}

}  // namespace corelane::reserved
