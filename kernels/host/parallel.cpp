// SPDX-License-Identifier: Apache-2.0
// The only file that includes Kokkos. It uses no global state of Kokkos, so nothing is initialised,
// and another library in the same process may initialise and finalise its own Kokkos
// (docs/decisions/0006-review-of-the-library.md, S1).
#include <tcsolve/kernels/host/parallel.hpp>

#include <Kokkos_Core.hpp>

#include <tcsolve/core/parallel.hpp>

namespace tcsolve::host {

/// An execution space of Kokkos whose loops run on Workers. Kokkos' own host spaces run one loop at
/// a time in a process, and their idle threads spin or are waited for while others have their
/// processors.
class Shared {
 public:
  using execution_space = Shared;
  using memory_space = Kokkos::HostSpace;
  using device_type = Kokkos::Device<Shared, memory_space>;
  using array_layout = Kokkos::LayoutRight;
  using size_type = memory_space::size_type;
  using scratch_memory_space = Kokkos::ScratchMemorySpace<Shared>;

  static int concurrency() { return threads_of_visit(); }
  static char const* name() { return "tcsolve"; }
  static constexpr std::uint32_t impl_instance_id() { return 0; }
};

}  // namespace tcsolve::host

template <>
struct Kokkos::Tools::Experimental::DeviceTypeTraits<tcsolve::host::Shared> {
  static constexpr DeviceType id = DeviceType::Threads;
  static int device_id(tcsolve::host::Shared const&) { return 0; }
};

template <class Body, class... Properties>
class Kokkos::Impl::ParallelFor<Body, Kokkos::RangePolicy<Properties...>, tcsolve::host::Shared> {
 public:
  using Policy = Kokkos::RangePolicy<Properties...>;

  ParallelFor(Body const& body, Policy const& policy) : body_(body), policy_(policy) {}
  void execute() const {
    tcsolve::host::share_loop(policy_.space().concurrency(), policy_.begin(), policy_.end(),
                              body_.stretch);
  }

 private:
  Body body_;
  Policy policy_;
};

namespace tcsolve::host {

namespace {

struct Body {
  Stretch stretch;
  void operator()(std::int64_t i) const { stretch.call(stretch.body, i, i + 1); }
};

}  // namespace

void parallel_stretches(std::int64_t n, Stretch stretch) {
  using Policy = Kokkos::RangePolicy<Shared, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("tcsolve", Policy(0, n), Body{stretch});
}

}  // namespace tcsolve::host
