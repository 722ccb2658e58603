#include "services/python/policies.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/eval/task_set.h"

namespace corelane::python {
namespace {

namespace py = pybind11;
using eval::CandidateCore;
using eval::Task;

double utilization_of(const Task& task) {
  return static_cast<double>(task.contract.budget.count()) / static_cast<double>(task.contract.period.count());
}

double utilization_of_core(const CandidateCore& core) {
  double sum = 0;
  for (const Task& task : core.tasks) sum += utilization_of(task);
  return sum;
}

py::list list_of(std::span<const Task> tasks) {
  py::list list;
  for (const Task& task : tasks) list.append(py::cast(task));
  return list;
}

py::list list_of(std::span<const CandidateCore> cores) {
  py::list list;
  for (const CandidateCore& core : cores) list.append(py::cast(core));
  return list;
}

std::string shown(const py::handle& object) { return py::cast<std::string>(py::repr(object)); }

std::string type_of(const py::handle& object) {
  return py::type::handle_of(object).attr("__name__").cast<std::string>();
}

// Returns how messages name a function: "the allocation first_fit()". An object without a name has that of its type.
std::string called(const char* role, const py::object& function) {
  const std::string name =
      py::hasattr(function, "__name__") ? py::str(function.attr("__name__")).cast<std::string>() : type_of(function);
  return "the " + std::string(role) + " " + name + "()";
}

// Returns what a function returned: "'x', a str".
std::string returned(const char* role, const py::object& function, const py::handle& object) {
  return called(role, function) + " returned " + shown(object) + ", a " + type_of(object);
}

// Returns whether the object is True or False, of Python or of NumPy.
bool is_truth(const py::object& object) {
  const std::string type = type_of(object);
  return type == "bool" || type == "bool_";
}

// Returns the number of the core that an allocation has returned: a Core, or its number, of Python or of NumPy.
std::optional<py::int_> core_number(const py::object& chosen) {
  if (py::isinstance<CandidateCore>(chosen)) return py::int_(py::cast<const CandidateCore&>(chosen).id.value);
  if (PyIndex_Check(chosen.ptr()) == 0 || is_truth(chosen)) return std::nullopt;
  const auto number = py::reinterpret_steal<py::int_>(PyNumber_Index(chosen.ptr()));
  if (number) return number;
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
  PyErr_Clear();  // an array of several numbers, for example
  return std::nullopt;
}

std::size_t index_of(const py::object& function, const py::object& chosen, std::span<const CandidateCore> cores) {
  const auto number = core_number(chosen);
  if (!number)
    throw py::type_error(returned("allocation", function, chosen) +
                         "; return one of the cores that it was given, the number of one, or None");
  int overflow = 0;  // not 0: no core has this number
  const long long value = PyLong_AsLongLongAndOverflow(number->ptr(), &overflow);
  const auto found =
      std::ranges::find_if(cores, [&](const CandidateCore& core) { return overflow == 0 && core.id.value == value; });
  if (found == cores.end())
    throw py::value_error(called("allocation", function) + " returned core " + shown(*number) +
                          ", which is none of those that it was given; return one of them, or None");
  return static_cast<std::size_t>(found - cores.begin());
}

decltype(eval::CustomPolicies::allocation) allocation_of(const py::object& function) {
  return [&function](std::span<const CandidateCore> cores, const Task& task) -> std::optional<std::size_t> {
    const py::gil_scoped_acquire lock;
    const py::object chosen = function(list_of(cores), py::cast(task));
    if (chosen.is_none()) return std::nullopt;
    return index_of(function, chosen, cores);
  };
}

decltype(eval::CustomPolicies::test) test_of(const py::object& function) {
  return [&function](std::span<const Task> tasks) {
    const py::gil_scoped_acquire lock;
    const py::object answer = function(list_of(tasks));
    if (!is_truth(answer)) throw py::type_error(returned("test", function, answer) + "; return True or False");
    const int truth = PyObject_IsTrue(answer.ptr());
    if (truth < 0) throw py::error_already_set();
    return truth == 1;
  };
}

void check_callable(const char* name, const py::object& object) {
  if (object.is_none() || PyCallable_Check(object.ptr()) != 0) return;
  throw py::type_error(std::string(name) + " is " + shown(object) + "; give a function, or leave it out");
}

std::string text_of_task(const Task& task) {
  return "Task(" + task.label + ", period " + to_string(task.contract.period) + ", deadline " +
         to_string(task.contract.deadline) + ", budget " + to_string(task.contract.budget) + ")";
}

std::string text_of_core(const CandidateCore& core) {
  return "Core(" + std::to_string(core.id.value) + ", " + std::to_string(core.tasks.size()) + " tasks, the task " +
         (core.fits ? "fits" : "does not fit") + ")";
}

}  // namespace

void define_policy_classes(py::module_& module) {
  py::class_<Task>(module, "Task", "A task as policies see it. Times are whole numbers of nanoseconds.")
      .def_property_readonly("label", [](const Task& task) { return task.label; })
      .def_property_readonly("period_ns", [](const Task& task) { return task.contract.period.count(); })
      .def_property_readonly("deadline_ns", [](const Task& task) { return task.contract.deadline.count(); })
      .def_property_readonly("budget_ns", [](const Task& task) { return task.contract.budget.count(); })
      .def_property_readonly("jitter_ns", [](const Task& task) { return task.contract.jitter.count(); })
      .def_property_readonly("importance", [](const Task& task) { return task.contract.importance; })
      .def_property_readonly("utilization", &utilization_of)
      .def("__repr__", &text_of_task);
  py::class_<CandidateCore>(module, "Core", "A core that a task may be placed on.")
      .def_property_readonly("number", [](const CandidateCore& core) { return core.id.value; })
      .def_property_readonly("tasks", [](const CandidateCore& core) { return list_of(std::span(core.tasks)); })
      .def_property_readonly(
          "fits", [](const CandidateCore& core) { return core.fits; },
          "Whether the admission test admits the task beside those of this core.")
      .def_property_readonly("utilization", &utilization_of_core)
      .def("__repr__", &text_of_core);
}

std::optional<eval::CustomPolicies> policies_of(const py::object& allocation, const py::object& test) {
  check_callable("allocation", allocation);
  check_callable("test", test);
  if (allocation.is_none() && test.is_none()) return std::nullopt;
  eval::CustomPolicies policies;
  if (!allocation.is_none()) policies.allocation = allocation_of(allocation);
  if (!test.is_none()) policies.test = test_of(test);
  return policies;
}

}  // namespace corelane::python
