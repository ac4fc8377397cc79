// SPDX-License-Identifier: Apache-2.0
/// What a run on the host is said to take of memory, and what it takes.
#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/app/config/memory_plan.hpp>
#include <tcsolve/app/config/registries.hpp>
#include <tcsolve/app/config/run_config.hpp>
#include <tcsolve/configs/schema/yaml.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/heap.hpp"

namespace tcsolve::test {
namespace {

/// The most that the process has from the heap beyond what it had, looked at all the time.
class HeapPeak {
 public:
  HeapPeak() : before_(heap_bytes()), looks_([this] { look(); }) {}
  ~HeapPeak() {
    ended_ = true;
    looks_.join();
  }
  double bytes() const { return most_ - before_; }

 private:
  void look() {
    while (!ended_) {
      most_ = std::max(most_.load(), heap_bytes());
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  double before_;
  std::atomic<double> most_ = 0;
  std::atomic<bool> ended_ = false;
  std::thread looks_;  // declared last, so begun when the others are there
};

struct Memory {
  double said, taken;
  std::string how;  ///< it ended, in which types
};

Memory memory_of(std::string const& keys) {
  Registries const registries;
  ParsedConfig const parsed = read_config(
      parse_yaml(
          "problem: {generator: {type: poisson27, n: 32, coefficient: random}, rhs: random}\n"
          "output: {bandwidth: false}\n" +
              keys,
          "test"),
      ".", {}, registries.catalog);
  Context ctx(Backend::host, {.threads = 1});
  HeapPeak const heap;
  SolverOptions options = parsed.run;
  options.check_matrices = false;
  LinearSolver solver(ctx, options);
  Memory out{double(plan_memory(ctx, solver.parts(), parsed.run, problem_size(parsed)).host), 0,
             ""};
  Problem problem = load_problem(parsed);
  solver.set_matrix(std::move(problem.A));
  SolveReport const r = solver.solve(std::span<double const>(problem.b), std::span(problem.x0));
  out.how = r.message;
  for (PrecisionReport const& p : r.precision)
    out.how += cat("; ", name(p.values), " on ", name(p.vectors), ", ", p.iterations);
  out.taken = heap.bytes();
  return out;
}

class MemoryOfRuns : public testing::TestWithParam<std::string> {};

TEST_P(MemoryOfRuns, IsWhatTheyAreSaidToTake) {
  if (sanitized()) GTEST_SKIP() << "the heap is the sanitizer's";
  Memory const m = memory_of("backend: host\npreconditioner: {type: jacobi}\n" + GetParam());
  EXPECT_NEAR(m.said / m.taken, 1, 0.15) << m.said << " and " << m.taken << " bytes; " << m.how;
}

/// FP64, narrow entries, narrow vectors, and what goes narrow by itself. What a converted format
/// takes is estimated before the matrix is there; csr is known.
std::vector<std::string> cases() {
  std::vector<std::string> all;
  for (std::string const method : {"cg", "bicgstab", "gmres"}) {
    std::string const solver = "solver: {type: " + method;
    all.push_back("operator: {format: csr}\n" + solver + "}\n");
    for (std::string const values : {"fp32", "fp16"})
      for (std::string const vectors : {"fp64", "fp32"})
        all.push_back("operator: {format: csr, values: " + values + "}\n" + solver +
                      ", vectors: " + vectors + "}\n");
    for (std::string const precision : {"fp32", "fp16", "auto"})
      all.push_back("precision: " + precision + "\noperator: {format: csr}\n" + solver + "}\n");
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Narrow, MemoryOfRuns, testing::ValuesIn(cases()));

}  // namespace
}  // namespace tcsolve::test
