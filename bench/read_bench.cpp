// SPDX-License-Identifier: Apache-2.0
/// read_bench [MEGABYTES = 256] [THREADS...]: text per second and core when a generated matrix is
/// read.
///
/// The file is banded (about 33 bytes an entry, values of 16 or 17 digits, the hard case), so that
/// number parsing and assembly count, not memory latency; it is in the page cache when it is timed.
/// The median of five runs of each number of threads, as JSON lines.
#include <tcsolve/core/parallel.hpp>
#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <vector>

using namespace tcsolve;

namespace {

struct TemporaryFile {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / cat("tcsolve-read-bench-", ::getpid(), ".mtx");
  ~TemporaryFile() { std::filesystem::remove(path); }
};

void time_reading(std::filesystem::path const& path, int threads) {
  std::array<ReadStats, 5> runs;
  for (ReadStats& stats : runs) read_matrix_market(path, {.threads = threads, .stats = &stats});
  std::ranges::sort(runs, {}, &ReadStats::seconds);
  ReadStats const& median = runs[runs.size() / 2];
  double const rate = static_cast<double>(median.text_bytes) / median.seconds / 1e6;
  std::cout << "{\"bench\": \"read_matrix_market\", \"threads\": " << threads
            << ", \"text_bytes\": " << median.text_bytes << ", \"entries\": " << median.stored
            << ", \"seconds\": " << median.seconds << ", \"fastest\": " << runs.front().seconds
            << ", \"slowest\": " << runs.back().seconds
            << ", \"assemble_seconds\": " << median.assemble_seconds << ", \"MB_per_s\": " << rate
            << ", \"MB_per_s_per_core\": " << rate / threads << "}" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  double const megabytes = argc > 1 ? std::atof(argv[1]) : 256;
  std::vector<int> threads;
  for (int i = 2; i < argc; ++i) threads.push_back(std::atoi(argv[i]));
  if (threads.empty()) threads = {1, thread_count(0)};

  constexpr Index half_bandwidth = 16;
  auto const rows = static_cast<Index>(megabytes * 1e6 / 33 / (2 * half_bandwidth + 1));
  TemporaryFile const file;
  write_matrix_market(file.path,
                      generate(BandedParams{.n = rows, .half_bandwidth = half_bandwidth}));
  for (int const t : threads) time_reading(file.path, t);
}
