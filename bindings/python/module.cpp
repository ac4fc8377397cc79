// SPDX-License-Identifier: Apache-2.0
/// The compiled part of the Python package: LinearSolver on arrays that lie where Python has them.
/// What a user sees of it stands in src/tcsolve/; here are no defaults and no conversions.
///
/// Every call gives the interpreter's lock back while it computes, and takes it for callbacks, for
/// lines of the log, and 20 times a second to look for Ctrl-C.
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tcsolve/api/libraries.hpp>
#include <tcsolve/api/ranking.hpp>
#include <tcsolve/api/report_json.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/version.hpp>

#include "core.hpp"
#include "xla.hpp"

using namespace nb::literals;

namespace tcsolve::python {
namespace {

nb::tuple read_file(std::string const& path) {
  Csr<double> a;
  {
    nb::gil_scoped_release const released;
    heeding_signals(nullptr, [&](Signals& signals) {
      // Most of reading is done by threads of its own, which cannot look.
      auto reading = std::async(
          std::launch::async, [&] { return read_matrix(path, {.cancel = signals.cancel_flag()}); });
      while (reading.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
        signals.on_check();
      a = reading.get();
    });
  }
  Index const rows = a.rows, cols = a.cols;
  return nb::make_tuple(rows, cols, taken_over(std::move(a.offsets)),
                        taken_over(std::move(a.columns)), taken_over(std::move(a.values)));
}

nb::list race(std::shared_ptr<Place> const& place, std::int64_t rows, std::int64_t cols,
              Numbers const& indptr, Numbers const& indices, InVector const& data,
              InVector const& b, double seconds, double rtol) {
  CsrView<double> const a = csr_view(rows, cols, indptr, indices, data);
  std::vector<RankedChoice> found;
  {
    nb::gil_scoped_release const released;
    validate(a, NonFinite::keep);
    Context& ctx = *place->ctx;
    heeding_signals(&ctx, [&](Signals&) {
      found = ranking(ctx, a, {b.data(), b.size()}, {.rtol = rtol, .seconds = seconds});
    });
  }
  nb::list told;
  for (RankedChoice const& c : found) {
    nb::dict d;
    d["solver"] = c.solver;
    d["preconditioner"] = c.preconditioner;
    d["standing"] = name(c.standing);
    d["outcome"] = c.outcome;
    d["iterations"] = c.iterations;
    d["setup"] = c.setup;
    d["solve"] = c.solve;
    d["predicted"] = c.predicted;
    d["bytes"] = c.bytes;
    told.append(d);
  }
  return told;
}

nb::list devices() {
  nb::list found;
  std::string why;
  for (int ordinal = 0; has_cuda && cuda::available(why, ordinal); ++ordinal)
    found.append(cat("cuda:", ordinal));
  return found;
}

/// (name, version or what is the matter with it).
nb::list libraries() {
  std::vector<OtherLibrary> list;
  {
    nb::gil_scoped_release const released;
    list = other_libraries();
  }
  nb::list told;
  for (OtherLibrary const& l : list) told.append(nb::make_tuple(l.name, l.text));
  return told;
}

/// core.name(b, x, ...), whose keywords are the fields of Asked.
template <class Result, class B, class X>
void define_call(nb::class_<Core>& core, char const* name,
                 Result (Core::*method)(B const&, X const&, Asked const&)) {
  core.def(
      name,
      [method](Core& c, B const& b, X const& x, std::optional<double> rtol,
               std::optional<double> atol, std::optional<std::int64_t> max_iters,
               std::optional<double> time_limit, bool transpose, bool zero_guess,
               nb::object progress, int every, std::uintptr_t stream) {
        return (c.*method)(b, x,
                           Asked{rtol, atol, time_limit, max_iters, transpose, zero_guess, stream,
                                 std::move(progress), every});
      },
      "b"_a.noconvert(), "x"_a.noconvert(), "rtol"_a.none(), "atol"_a.none(), "max_iters"_a.none(),
      "time_limit"_a.none(), "transpose"_a, "zero_guess"_a, "progress"_a.none(), "every"_a,
      "stream"_a);
}

}  // namespace
}  // namespace tcsolve::python

NB_MODULE(_core, m) {
  using namespace tcsolve;
  using namespace tcsolve::python;
  m.attr("version") = version::release;
  m.attr("revision") = version::revision;
  m.attr("has_cuda") = has_cuda;
  m.attr("cuda_version") = version::cuda;
  m.attr("compiler") = version::compiler;

  // Errors are the package's classes, which have Python's own among their bases.
  nb::set_leak_warnings(false);
  nb::register_exception_translator([](std::exception_ptr const& thrown, void*) {
    auto const raise = [](char const* name, std::exception const& e) {
      nb::object const type = nb::module_::import_("tcsolve._errors").attr(name);
      PyErr_SetString(type.ptr(), e.what());
    };
    try {
      std::rethrow_exception(thrown);
    } catch (ConfigError const& e) { raise("ConfigError", e); } catch (MatrixError const& e) {
      raise("MatrixError", e);
    } catch (SetupError const& e) { raise("SetupError", e); } catch (ShapeError const& e) {
      raise("ShapeError", e);
    } catch (Unsupported const& e) { raise("Unsupported", e); } catch (NotBuilt const& e) {
      raise("Unsupported", e);
    } catch (DeviceError const& e) { raise("DeviceError", e); } catch (MemoryError const& e) {
      raise("OutOfMemory", e);
    } catch (BusyError const& e) { raise("BusyError", e); } catch (Cancelled const& e) {
      raise("Cancelled", e);
    } catch (Error const& e) { raise("Error", e); }
  });

  nb::class_<Told>(m, "Report")
      .def_prop_ro("converged", [](Told const& t) { return t.report.converged(); })
      .def_prop_ro("solved", [](Told const& t) { return t.report.solved(); })
      .def_prop_ro("outcome", [](Told const& t) { return t.report.outcome(); })
      .def_prop_ro("exit_code", [](Told const& t) { return t.report.exit_code(); })
      .def_prop_ro("message", [](Told const& t) { return t.report.message; })
      .def_prop_ro("iterations", [](Told const& t) { return t.report.iterations; })
      .def_prop_ro("true_residual", [](Told const& t) { return t.report.true_residual; })
      .def_prop_ro("tolerance", [](Told const& t) { return t.report.tolerance; })
      .def_prop_ro("rhs_norm", [](Told const& t) { return t.report.rhs_norm; })
      .def_prop_ro("seconds", [](Told const& t) { return t.report.seconds; })
      .def_prop_ro("setup_seconds", [](Told const& t) { return t.report.setup_seconds; })
      .def_prop_ro("residuals", [](Told const& t) { return history(t.report); })
      .def_prop_ro("json", [](Told const& t) { return to_json(t.report); })
      .def_prop_ro("setup_json", [](Told const& t) { return to_json(*t.setup); })
      .def_ro("memory", &Told::memory);

  nb::class_<Place>(m, "Place")
      .def(
          "__init__",
          [](Place* self, std::string const& yaml, int device, std::uintptr_t stream,
             std::vector<std::vector<double>> nullspace) {
            new (self) Place(yaml, device, stream, std::move(nullspace));
          },
          "yaml"_a, "device"_a, "stream"_a, "nullspace"_a)
      .def_prop_ro("memory", [](Place& p) { return p.ctx->arena().bytes(); });

  nb::class_<Core> core(m, "Core");
  core.def(nb::init<std::shared_ptr<Place>>())
      .def("set_csr", &Core::set_csr, "rows"_a, "cols"_a, "indptr"_a.noconvert(),
           "indices"_a.noconvert(), "data"_a.noconvert(), "borrow"_a, "stream"_a)
      .def("set_nodes", &Core::set_nodes, "block"_a, "coordinates"_a, "near_nullspace"_a)
      .def("set_csr_and_M", &Core::set_csr_and_M, "rows"_a, "cols"_a, "indptr"_a.noconvert(),
           "indices"_a.noconvert(), "data"_a.noconvert(), "M"_a.none(), "Mt"_a.none())
      .def("set_functions", &Core::set_functions, "rows"_a, "cols"_a, "A"_a, "At"_a.none(),
           "M"_a.none(), "Mt"_a.none())
      .def("update", &Core::update, "rows"_a, "cols"_a, "indptr"_a.noconvert(),
           "indices"_a.noconvert(), "data"_a.noconvert(), "stream"_a)
      .def("set_coo", &Core::set_coo, "rows"_a, "cols"_a, "i"_a.noconvert(), "j"_a.noconvert(),
           "values"_a.noconvert(), "stream"_a)
      .def("update_coo", &Core::update_coo, "values"_a.noconvert(), "stream"_a)
      .def("refresh", &Core::refresh)
      .def("apply_M", &Core::apply_M, "x"_a.noconvert(), "y"_a.noconvert(), "transpose"_a,
           "stream"_a)
      .def("empty", &Core::empty, "rows"_a, "cols"_a)
      .def("copy", &Core::copy, "x"_a.noconvert(), "y"_a.noconvert(), "stream"_a)
      .def("convert", &Core::convert, "x"_a.noconvert(), "y"_a.noconvert(), "stream"_a)
      .def("owned", &Core::owned, "x"_a.noconvert(), "type"_a, "stream"_a)
      .def("same", &Core::same, "x"_a.noconvert(), "y"_a.noconvert(), "stream"_a)
      .def("cancel", &Core::cancel)
      .def_prop_ro("ready", &Core::ready)
      .def_prop_ro("preconditioned", &Core::preconditioned)
      .def_prop_ro("shape", &Core::shape)
      .def_prop_ro("format", &Core::format)
      .def_prop_ro("setup_json", &Core::setup_json)
      .def_prop_ro("options_json", &Core::options_json)
      .def_prop_ro("device_name", &Core::device_name)
      .def_prop_ro("on_host", &Core::on_host)
      .def_prop_ro("memory", &Core::memory)
      .def_prop_ro("columns_pointer", [](Core const& c) { return c.pointers().first; })
      .def_prop_ro("values_pointer", [](Core const& c) { return c.pointers().second; });

  define_call(core, "solve", &Core::solve);
  define_call(core, "solve_columns", &Core::solve_columns);
  core.def(
      "solve_at",
      [](Core& c, std::uintptr_t b, std::int64_t rows, std::uintptr_t x, std::int64_t cols,
         std::uintptr_t guess, int device, std::optional<double> rtol, std::optional<double> atol,
         std::optional<std::int64_t> max_iters, std::optional<double> time_limit, bool transpose,
         nb::object progress, int every, std::uintptr_t stream) {
        return c.solve_at(b, rows, x, cols, guess, device,
                          Asked{rtol, atol, time_limit, max_iters, transpose, guess == 0, stream,
                                std::move(progress), every});
      },
      "b"_a, "rows"_a, "x"_a, "cols"_a, "guess"_a, "device"_a, "rtol"_a.none(), "atol"_a.none(),
      "max_iters"_a.none(), "time_limit"_a.none(), "transpose"_a, "progress"_a.none(), "every"_a,
      "stream"_a);

  m.def("read", &read_file, "path"_a);
  m.def("race", &race, "place"_a, "rows"_a, "cols"_a, "indptr"_a.noconvert(),
        "indices"_a.noconvert(), "data"_a.noconvert(), "b"_a.noconvert(), "seconds"_a, "rtol"_a);
  m.def("by_address", &by_address, "data"_a, "shape"_a, "kind"_a, "bits"_a, "read_only"_a,
        "owner"_a, "device"_a = -2, "by_columns"_a = false);
  m.def("address_of",
        [](nb::ndarray<nb::ro> const& a) { return reinterpret_cast<std::uintptr_t>(a.data()); });
  m.def("xla_handler",
        [](bool on_device) { return on_device ? xla::handler<true>() : xla::handler<false>(); });
  m.def("devices", &devices);
  m.def("libraries", &libraries);
}
