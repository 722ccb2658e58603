// Poa (PortableServer::POA) activates servants as objects. PoaManager (PortableServer::POAManager) controls whether
// their requests run. CORBA 3.3 part 1, 15.3. Adapters are transient with system or user ids, unique servants, an
// active object map and no servant managers. orb/core/policies has the policies and their supported values.
//
// Threads: any. One mutex guards the map; upcalls run outside it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/core/exception.h"
#include "orb/core/object.h"
#include "orb/core/objects/poa_manager_state.h"
#include "orb/core/orb.h"
#include "orb/core/policies/policy_kind.h"
#include "orb/poa/servant.h"

namespace corelane::poa {

class AdapterRegistry;

using ObjectId = std::vector<std::uint8_t>;

class PoaManager final : public core::Object {
 public:
  static constexpr const char* _id = "IDL:omg.org/PortableServer/POAManager:2.3";
  enum class State : std::uint32_t { HOLDING, ACTIVE, DISCARDING, INACTIVE };

  struct AdapterInactive final : core::UserException {
    const char* _rep_id() const noexcept override {
      return "IDL:omg.org/PortableServer/POAManager/AdapterInactive:1.0";
    }
    const char* what() const noexcept override { return "PortableServer::POAManager::AdapterInactive"; }
    void _raise() const override { throw *this; }

   private:
    void _encode(cdr::Writer&) const override {}
  };

  PoaManager(std::weak_ptr<core::Orb> orb, std::shared_ptr<core::PoaManagerState> manager_state);

  // Each function raises AdapterInactive after the manager was deactivated. activate() makes the ORB listen.
  void activate();
  // Makes requests wait, in a bounded queue. With `wait_for_completion` it returns when none runs.
  void hold_requests(bool wait_for_completion);
  // Answers requests with TRANSIENT.
  void discard_requests(bool wait_for_completion);
  // Ends the manager for good: it answers requests with OBJ_ADAPTER.
  void deactivate(bool etherealize_objects, bool wait_for_completion);
  State get_state() const;

  const std::shared_ptr<core::PoaManagerState>& manager_state() const noexcept { return manager_state_; }

 private:
  void change(core::Passage passage, bool wait_for_completion);

  const std::weak_ptr<core::Orb> orb_;
  const std::shared_ptr<core::PoaManagerState> manager_state_;
};

class Poa final : public core::Object, public std::enable_shared_from_this<Poa> {
 public:
  static constexpr const char* _id = "IDL:omg.org/PortableServer/POA:2.3";

  // The mapping's user exceptions without members.
  template <int tag>
  struct Fault final : core::UserException {
    const char* _rep_id() const noexcept override { return ids[tag]; }
    const char* what() const noexcept override { return names[tag]; }
    void _raise() const override { throw *this; }

   private:
    void _encode(cdr::Writer&) const override {}
  };
  using ServantAlreadyActive = Fault<0>;
  using ObjectAlreadyActive = Fault<1>;
  using ServantNotActive = Fault<2>;
  using ObjectNotActive = Fault<3>;
  using WrongAdapter = Fault<4>;
  using AdapterNonExistent = Fault<5>;
  using AdapterAlreadyExists = Fault<6>;
  using WrongPolicy = Fault<7>;
  // Names a policy of create_POA(), by its place in the list: it is not for adapters, contradicts one before, or
  // excludes another one.
  struct InvalidPolicy final : core::UserException {
    explicit InvalidPolicy(std::uint16_t place = 0) : index_(place) {}
    std::uint16_t index() const noexcept { return index_; }
    const char* _rep_id() const noexcept override { return "IDL:omg.org/PortableServer/POA/InvalidPolicy:1.0"; }
    const char* what() const noexcept override { return "PortableServer::POA::InvalidPolicy"; }
    void _raise() const override { throw *this; }

   private:
    void _encode(cdr::Writer& writer) const override { writer.write(index_); }
    std::uint16_t index_;
  };

  // `id_prefix`: with what the ids begin that the adapter chooses. `policies`: nothing for an adapter without
  // restrictions, which takes ids of the program, chooses ids, and activates servants implicitly.
  Poa(std::shared_ptr<AdapterRegistry> registry, std::string name, core::ObjectReference<PoaManager> manager,
      std::string key_prefix, std::string id_prefix = {}, std::optional<core::PolicyValues> policies = {});
  ~Poa() override;

  std::string the_name() const { return name_; }
  core::ObjectReference<PoaManager> the_POAManager() const { return manager_; }

  // Makes a transient adapter below this one. This adapter owns it: it lives until either of them is destroyed. With a
  // nil manager it gets a new one, which holds requests. The adapter has no restrictions: it takes ids of the program,
  // chooses ids, and activates servants implicitly.
  core::ObjectReference<Poa> create_POA(const std::string& name, core::ObjectReference<PoaManager> manager);
  // The same with the standard's policies: those of the list, and the standard's default for each other one. Raises
  // InvalidPolicy. orb/corba/policies.h shows how to make policies; orb/corba defines this function.
  core::ObjectReference<Poa> create_POA(const std::string& name, core::ObjectReference<PoaManager> manager,
                                        const std::vector<core::ObjectReference<::CORBA::Policy>>& policies);
  core::ObjectReference<Poa> create_with(const std::string& name, core::ObjectReference<PoaManager> manager,
                                         const core::PolicyValues& policies);
  // The same for objects with well-known keys: `key` for the object with the empty id, and `key` followed by the id for
  // others. corbaloc::host:port/key refers to them. References to them stay valid when the program runs again at the
  // same endpoints. Ids that the adapter chooses itself are of this start only, so that such a reference never leads to
  // another object of a later start. The key is also the adapter's name. No other adapter's keys may begin with such a
  // key: where two adapters would give an object the same key, the second activation raises ObjectAlreadyActive.
  core::ObjectReference<Poa> create_well_known(const std::string& key, core::ObjectReference<PoaManager> manager);
  core::ObjectReference<Poa> find_POA(const std::string& name);
  // Destroys the adapter and all adapters below it.
  void destroy(bool etherealize_objects, bool wait_for_completion);

  // WrongPolicy: the program chooses all ids of this adapter. The same holds for create_reference().
  ObjectId activate_object(const ServantReference<Servant>& servant);
  // BAD_PARAM with OMG minor code 14: this adapter chooses all ids, and did not choose this one. The same holds for
  // create_reference_with_id().
  void activate_object_with_id(const ObjectId& id, const ServantReference<Servant>& servant);
  // Make a reference to an object that need not be active: with a new id, and with `id`. Calls get OBJECT_NOT_EXIST
  // until activate_object_with_id() has activated the id. `repository_id` names the interface of the servant that will
  // serve it, or a base of it. If it is "", narrow() asks the object. These functions, and those below that return a
  // reference, raise BAD_PARAM key_too_long if a request with the id would exceed limits.message_size.
  core::ObjectReference<core::Object> create_reference(const std::string& repository_id);
  core::ObjectReference<core::Object> create_reference_with_id(const ObjectId& id, const std::string& repository_id);
  // Deactivates an object. Running requests finish; new ones get OBJECT_NOT_EXIST.
  void deactivate_object(const ObjectId& id);

  // Activates the servant if it is not active. ServantNotActive: it is not, and the policies do not allow that.
  ObjectId servant_to_id(const ServantReference<Servant>& servant);
  core::ObjectReference<core::Object> servant_to_reference(const ServantReference<Servant>& servant);
  core::ObjectReference<core::Object> id_to_reference(const ObjectId& id);
  ServantReference<Servant> id_to_servant(const ObjectId& id);
  ServantReference<Servant> reference_to_servant(const core::ObjectReference<core::Object>& reference);
  ObjectId reference_to_id(const core::ObjectReference<core::Object>& reference);

 private:
  static constexpr const char* ids[] = {
      "IDL:omg.org/PortableServer/POA/ServantAlreadyActive:1.0",
      "IDL:omg.org/PortableServer/POA/ObjectAlreadyActive:1.0",
      "IDL:omg.org/PortableServer/POA/ServantNotActive:1.0",
      "IDL:omg.org/PortableServer/POA/ObjectNotActive:1.0",
      "IDL:omg.org/PortableServer/POA/WrongAdapter:1.0",
      "IDL:omg.org/PortableServer/POA/AdapterNonExistent:1.0",
      "IDL:omg.org/PortableServer/POA/AdapterAlreadyExists:1.0",
      "IDL:omg.org/PortableServer/POA/WrongPolicy:1.0",
  };
  static constexpr const char* names[] = {
      "PortableServer::POA::ServantAlreadyActive", "PortableServer::POA::ObjectAlreadyActive",
      "PortableServer::POA::ServantNotActive",     "PortableServer::POA::ObjectNotActive",
      "PortableServer::POA::WrongAdapter",         "PortableServer::POA::AdapterNonExistent",
      "PortableServer::POA::AdapterAlreadyExists", "PortableServer::POA::WrongPolicy",
  };
  struct Map;
  struct Entry;
  core::ObjectReference<Poa> create(const std::string& name, core::ObjectReference<PoaManager> manager,
                                    std::string key_prefix, std::string id_prefix,
                                    std::optional<core::PolicyValues> policies = {});
  bool obeys(const core::PolicyKind& kind, core::PolicyValue value) const noexcept;
  void require_own_ids() const;
  void require_allowed(const ObjectId& id) const;
  enum class IfActive : std::uint8_t { refuse, keep };
  Entry activate(const ObjectId* id, const ServantReference<Servant>& servant, IfActive if_active);
  Entry add(const ObjectId& id, const ServantReference<Servant>& servant, core::OperationContracts contracts);
  void add_to_registry(const Entry& entry);
  Entry active(const ServantReference<Servant>& servant);
  core::ObjectReference<core::Object> reference_of(const Entry& entry);
  void forget(const Poa& child);
  std::string key_of(const ObjectId& id) const;
  core::ObjectReference<core::Object> make_reference(const ObjectId& id, std::string_view type_id,
                                                     std::shared_ptr<core::ActiveObject> object);

  const std::shared_ptr<AdapterRegistry> registry_;
  const std::string name_;
  const core::ObjectReference<PoaManager> manager_;
  const std::optional<core::PolicyValues> policies_;
  const std::unique_ptr<Map> map_;
};

// Makes RootPOA an initial reference of the ORB. CORBA::ORB_init calls it.
void install(const std::shared_ptr<core::Orb>& orb);

}  // namespace corelane::poa
