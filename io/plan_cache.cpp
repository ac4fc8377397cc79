// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/plan_cache.hpp>

#include <tcsolve/core/parallel.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>
#include <tcsolve/io/hash.hpp>
#include <tcsolve/version.hpp>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <thread>

namespace tcsolve {
namespace {

/// Two sums over elements, each hashed with its place: the order of evaluation does not matter.
struct Sums : HashSums {
  void add(std::uint64_t place, std::uint64_t value) {
    std::uint64_t const h = mix(mix(place) ^ value);
    first += h;
    second += mix(h ^ 0x5bd1e995u);
  }
};

struct Stored {
  Index rows;
  Reorder taken;
  Locality before, after;
};
static_assert(std::is_trivially_copyable_v<Stored>);

std::string packed(Reordering const& order, Index rows) {
  Stored stored;
  std::memset(static_cast<void*>(&stored), 0, sizeof stored);  // no padding of chance in the file
  stored.rows = rows, stored.taken = order.taken;
  stored.before = order.before, stored.after = order.after;
  auto const old_numbers = order.P.old_numbers();
  std::string bytes(sizeof stored, '\0');
  std::memcpy(bytes.data(), &stored, sizeof stored);
  if (order.taken != Reorder::none)
    bytes.append(reinterpret_cast<char const*>(old_numbers.data()), old_numbers.size_bytes());
  return bytes;
}

/// Nothing where the bytes are not those of an order of `rows` rows.
std::optional<Reordering> unpacked(std::string const& bytes, Index rows) {
  Stored stored;
  if (bytes.size() < sizeof stored) return std::nullopt;
  std::memcpy(static_cast<void*>(&stored), bytes.data(), sizeof stored);
  bool const same = stored.taken == Reorder::none;
  std::size_t const wanted = sizeof stored + (same ? 0 : std::size_t(rows) * sizeof(Index));
  if (stored.rows != rows || bytes.size() != wanted) return std::nullopt;
  if (same)
    return Reordering{stored.taken, Permutation::identity(rows), stored.before, stored.after};
  std::vector<Index> old_numbers(static_cast<std::size_t>(rows));
  std::memcpy(old_numbers.data(), bytes.data() + sizeof stored, old_numbers.size() * sizeof(Index));
  try {
    return Reordering{stored.taken, Permutation(std::move(old_numbers)), stored.before,
                      stored.after};
  } catch (MatrixError const&) { return std::nullopt; }
}

/// The sums of add(sums, i) for each row i, by all threads.
template <class Add>
Sums sums_of_rows(Index rows, Add const& add) {
  auto const threads = std::max(1u, std::min(16u, std::thread::hardware_concurrency()));
  std::vector<Sums> parts(threads);
  parallel_tasks(static_cast<int>(threads), threads, [&](std::int64_t t, int) {
    Sums sums;
    auto const end = Index(std::int64_t{rows} * (t + 1) / threads);
    for (auto i = Index(std::int64_t{rows} * t / threads); i < end; ++i) add(sums, i);
    parts[static_cast<std::size_t>(t)] = sums;
  });
  Sums sum;
  for (Sums const& s : parts) sum += s;
  return sum;
}

/// Of row i, which is row first_row + i of a matrix with so many entries before the first one here.
void add_positions(Sums& sums, Pattern const& a, Index i, std::int64_t first_row = 0,
                   Offset first_entry = 0) {
  Offset k = first_entry + a.offsets[i];
  sums.add(std::uint64_t(first_row + i), std::uint64_t(k));
  for (Index const j : a.row(i)) sums.add(~std::uint64_t(k++), std::uint64_t(j));
}

}  // namespace

std::string pattern_key(Pattern const& a) {
  Sums const sum = sums_of_rows(a.rows, [&](Sums& sums, Index i) { add_positions(sums, a, i); });
  return cat(a.rows, " x ", a.cols, ", ", a.entries, " entries, ", sum.text());
}

std::string HashSums::text() const {
  char text[40];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(first),
                static_cast<unsigned long long>(second));
  return text;
}

HashSums hash_sums(Csr<double> const& a, std::int64_t first_row, Offset first_entry) {
  Pattern const pattern(a);
  return sums_of_rows(a.rows, [&](Sums& sums, Index i) {
    add_positions(sums, pattern, i, first_row, first_entry);
    auto k = static_cast<std::uint64_t>(first_entry + a.offsets[static_cast<std::size_t>(i)]);
    for (double const value : a.row_values(i))
      sums.add(mix(k++), std::bit_cast<std::uint64_t>(value));
  });
}

std::string matrix_hash(Csr<double> const& a) { return hash_sums(a, 0, 0).text(); }

Reordering reordering(Pattern const& a, Reorder reorder, DiskCache const& cache,
                      std::string& note) {
  return reordering(a, reorder, cache, note, [&] { return reordering(a, reorder); });
}

Reordering reordering(Pattern const& a, Reorder reorder, DiskCache const& cache, std::string& note,
                      std::function<Reordering()> const& make) {
  require_square(a);
  std::string const key = cat("reordering ", name(reorder), ", ", version::release,
                              metis_built() ? ", metis" : "", ", ", pattern_key(a));
  if (auto const bytes = cache.get(key))
    if (auto order = unpacked(*bytes, a.rows)) {
      note = "from the cache";
      return *std::move(order);
    }
  Reordering order = make();
  std::string const why = cache.put(key, packed(order, a.rows));
  note = why.empty() ? "kept in the cache" : cat("not kept in the cache: ", why);
  return order;
}

}  // namespace tcsolve
