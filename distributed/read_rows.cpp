// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/read_rows.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <tcsolve/comm/together.hpp>
#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/core/parallel.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/files/matrix_market_part.hpp>
#include <tcsolve/io/files/petsc.hpp>

namespace tcsolve {
namespace {

/// f() on every rank. Of the MatrixErrors that it throws that of the first rank, which has the
/// first part of the file, is thrown on all.
template <class F>
void in_file_order(Ranks& ranks, std::string const& name, F const& f) {
  std::string fault;
  together(ranks, [&] {
    try {
      f();
    } catch (MatrixError const& e) { fault = e.what(); } catch (std::bad_alloc const&) {
      throw MemoryError(cat(name, ": out of memory while reading"));
    }
  });
  if (!ranks.agree(!fault.empty())) return;
  for (std::string const& first : gather(ranks, fault))
    if (!first.empty()) {
      ranks.settle();
      throw MatrixError(first);
    }
}

/// Throws the first fault of the parts, or that they have too many or too few entries.
void require_whole(Ranks& ranks, std::string const& path, MatrixHeader const& header,
                   TextPart const& part, PartEntries const& mine) {
  auto const lines = gather(ranks, mine.lines), counts = gather(ranks, mine.count),
             faults = gather(ranks, std::int64_t{!mine.fault.empty()});
  in_file_order(ranks, path, [&] {
    std::int64_t line = header.line;
    Offset before = 0;
    auto const fail = [&](std::int64_t at, std::string const& what) {
      throw MatrixError(cat(path, ":", line + at, ": ", what));
    };
    for (int r = 0; r < ranks.ranks(); ++r) {
      auto const k = static_cast<std::size_t>(r);
      bool const too_many = counts[k] > header.stored - before;
      if ((too_many || faults[k] != 0) && r != ranks.rank()) return;
      if (too_many)
        fail(line_of_entry(path, part, header.stored - before),
             cat("more entries than the ", header.stored, " of the size line"));
      if (faults[k] != 0) fail(lines[k], mine.fault);
      before += counts[k];
      line += lines[k];
    }
    if (before < header.stored)
      fail(1, cat("the file ends after ", before, " of ", header.stored, " entries"));
  });
}

/// Stretches of about equally many entries and rows, of entries that are mirrored. They end with
/// blocks of rows, so that a rank counts by few of them.
Stretches stretches_of(Ranks& ranks, MatrixHeader const& header, PartEntries const& mine) {
  constexpr int log2_most_blocks = 12;
  std::int64_t const rows = header.rows;
  auto const bits = std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(rows - 1, 0)));
  int const shift = std::max(0, static_cast<int>(bits) - log2_most_blocks);
  std::int64_t const blocks = rows == 0 ? 0 : ((rows - 1) >> shift) + 1;
  bool const mirrored = header.symmetry != MatrixSymmetry::general;
  std::vector<double> weight(static_cast<std::size_t>(blocks));
  for (auto const& piece : mine.pieces)
    for (Entry const& e : piece) {
      ++weight[static_cast<std::size_t>(e.row >> shift)];
      if (mirrored && e.row != e.col) ++weight[static_cast<std::size_t>(e.col >> shift)];
    }
  int const count = ranks.ranks();
  std::vector<double> all(weight.size() * static_cast<std::size_t>(count));
  ranks.gather(weight.data(), blocks, all.data());
  auto const end_of = [&](std::int64_t block) { return std::min((block + 1) << shift, rows); };
  double total = 0;
  for (std::int64_t b = 0; b < blocks; ++b) {
    double& sum = weight[static_cast<std::size_t>(b)];
    sum = double(end_of(b) - (b << shift));
    for (std::size_t k = static_cast<std::size_t>(b); k < all.size(); k += weight.size())
      sum += all[k];
    total += sum;
  }
  Stretches out{{0}};
  double before = 0;
  std::int64_t b = 0;
  for (int r = 1; r < count; ++r) {
    for (; b < blocks && before * count < total * r; ++b)
      before += weight[static_cast<std::size_t>(b)];
    out.starts.push_back(b == 0 ? 0 : end_of(b - 1));
  }
  out.starts.push_back(rows);
  return out;
}

/// The entries of each rank's rows, and the mirror images of those in one triangle, to that rank:
/// what this one has of its own and of others, in the order of the file, with rows counted from its
/// first one. Its own stay in pieces, which take the place of those that they come from.
std::vector<std::vector<Entry>> sent_to_owners(Ranks& ranks, MatrixHeader const& header,
                                               PartEntries mine, Stretches const& rows) {
  auto const owner = [&](Index row) {
    auto const next = std::upper_bound(rows.starts.begin(), rows.starts.end(), row);
    return static_cast<std::size_t>(next - rows.starts.begin()) - 1;
  };
  bool const mirrored = header.symmetry != MatrixSymmetry::general;
  double const sign = header.symmetry == MatrixSymmetry::skew_symmetric ? -1 : 1;
  auto const each = [&](std::vector<Entry> const& piece, auto const& f) {
    for (Entry const& e : piece) {
      f(owner(e.row), e);
      if (mirrored && e.row != e.col) f(owner(e.col), Entry{e.col, e.row, sign * e.value});
    }
  };
  auto const count = static_cast<std::size_t>(ranks.ranks()),
             me = static_cast<std::size_t>(ranks.rank());
  std::vector<std::vector<Entry>> out(count);
  together(ranks, [&] {
    std::vector<std::size_t> sizes(count);
    for (auto const& piece : mine.pieces)
      each(piece, [&](std::size_t to, Entry const&) { ++sizes[to]; });
    for (std::size_t r = 0; r < count; ++r)
      if (r != me) out[r].reserve(sizes[r]);
    std::vector<Entry> own;
    for (auto& piece : mine.pieces) {
      own.clear();
      each(piece, [&](std::size_t to, Entry e) {
        e.row -= static_cast<Index>(rows.starts[to]);
        (to == me ? own : out[to]).push_back(e);
      });
      piece = {};
      piece.assign(own.begin(), own.end());
    }
  });
  auto in = all_to_all(ranks, out);
  std::vector<std::vector<Entry>> all;
  for (std::size_t r = 0; r < count; ++r)
    if (r == me)
      std::ranges::move(mine.pieces, std::back_inserter(all));
    else
      all.push_back(std::move(in[r]));
  return all;
}

/// The rank's rows of these entries.
Csr<double> assembled(std::vector<std::vector<Entry>> lists, Index rows, Index cols,
                      Repeats repeats, ReadOptions const& options) {
  constexpr std::size_t piece = std::size_t{1} << 18;
  int const threads = thread_count(options.threads);
  CsrBuilder builder(rows, cols);
  std::vector<std::span<Entry const>> pieces;
  std::vector<CsrBuilder::Slice> slices;
  std::size_t begin = 0;  // of the lists that `pieces` are of
  for (std::size_t k = 0; k < lists.size(); ++k) {
    for (std::span<Entry const> rest(lists[k]); !rest.empty();) {
      pieces.push_back(rest.first(std::min(piece, rest.size())));
      rest = rest.subspan(pieces.back().size());
    }
    // So many that all threads have some, and few lists lie beside their slices.
    if (pieces.size() < static_cast<std::size_t>(4 * threads) && k + 1 < lists.size()) continue;
    slices.resize(pieces.size());
    parallel_tasks(threads, static_cast<std::int64_t>(pieces.size()), [&](std::int64_t task, int) {
      auto const i = static_cast<std::size_t>(task);
      slices[i] = builder.slice(pieces[i]);
    });
    for (auto& slice : slices) builder.append(std::move(slice));
    pieces.clear();
    for (; begin <= k; ++begin) lists[begin] = {};
  }
  return builder.finish(repeats, {options.threads, options.cancel});
}

/// Finite entries may have a sum that is not.
void check_sums(Csr<double> const& a, std::int64_t first_row, std::string const& name) {
  for (Index i = 0; i < a.rows; ++i)
    for (double const value : a.row_values(i))
      if (!std::isfinite(value))
        throw MatrixError(cat(name, ": the duplicate entries of row ", first_row + i + 1,
                              " have a sum beyond the range of double"));
}

DealtRows read_matrix_market_rows(Ranks& ranks, std::filesystem::path const& path,
                                  ReadOptions const& options) {
  std::string const name = path.string();
  int const me = ranks.rank(), count = ranks.ranks();
  MatrixMarketBody body;
  MatrixHeader const& header = body.header;
  TextPart part;
  PartEntries mine;
  in_file_order(ranks, name, [&] {
    body = read_matrix_market_body(path);
    require_memory(
        32 * (header.max_entries() / count) + 8 * (std::int64_t{header.rows} / count + 1),
        options.memory_limit,
        cat(name, ": a share of a matrix of ", header.rows, " x ", header.cols, " with up to ",
            header.max_entries(), " entries"));
    part = part_of(path, body, me, count);
    mine = read_part(path, header, part, options);
  });
  require_whole(ranks, name, header, part, mine);

  bool const lower = ranks.agree(mine.lower), upper = ranks.agree(mine.upper);
  bool const mirrored = header.symmetry != MatrixSymmetry::general,
             both_triangles = mirrored && lower && upper,
             refuse = both_triangles || options.duplicates == Duplicates::refuse;
  DealtRows dealt{{}, stretches_of(ranks, header, mine)};
  std::int64_t const first = dealt.rows.first(me);
  auto entries = sent_to_owners(ranks, header, std::move(mine), dealt.rows);
  in_file_order(ranks, name, [&] {
    try {
      dealt.A = assembled(std::move(entries), static_cast<Index>(dealt.rows.size(me)), header.cols,
                          refuse ? Repeats::refuse : Repeats::sum, options);
    } catch (RepeatedEntry const& e) {
      RepeatedEntry const there(static_cast<Index>(first) + e.row, e.col);
      throw MatrixError(cat(name, ":", line_of_repeat(path, there.row, there.col, mirrored), ": ",
                            there.what(),
                            both_triangles ? ": the symmetric file stores both triangles" : ""));
    }
    if (options.nonfinite == NonFinite::refuse) check_sums(dealt.A, first, name);
  });
  return dealt;
}

DealtRows read_petsc_rows(Ranks& ranks, std::filesystem::path const& path,
                          ReadOptions const& options) {
  std::string const name = path.string();
  TextInput const input{name, [path] { return open_file(path); }};
  std::optional<PetscRows> mine;
  in_file_order(ranks, name, [&] { mine.emplace(input, options, ranks.rank(), ranks.ranks()); });
  in_file_order(ranks, name, [&] { mine->read_columns(); });
  in_file_order(ranks, name, [&] { mine->read_values(); });
  DealtRows dealt{{}, {mine->starts()}};
  in_file_order(ranks, name, [&] { dealt.A = mine->assembled(); });
  ComplexSigns signs =
      complex_signs(dealt.A, dealt.rows.first(ranks.rank()), dealt.rows.size() == dealt.A.cols);
  signs.mirrors = ranks.agree(signs.mirrors);
  signs.others = ranks.agree(signs.others);
  std::vector<std::int64_t> const pairs = gather(ranks, signs.pairs);
  signs.pairs = 0;
  for (std::int64_t const some : pairs) signs.pairs += some;
  in_file_order(ranks, name, [&] { mine->check_plausible(signs); });
  return dealt;
}

/// What tells this file from another one: its type, size and first bytes; "" where it is none that
/// ranks can read.
std::string identity(std::filesystem::path const& path) try {
  if (is_standard_input(path)) return "";
  std::optional<std::int64_t> const bytes = plain_size(path);
  if (!bytes) return "";
  FileType const type = file_type(path);
  bool const text = type == FileType::matrix_market;
  if (!text && type != FileType::petsc) return "";
  if (text && read_matrix_market_header(path).layout != MatrixLayout::coordinate) return "";
  std::array<char, 256> start{};
  open_file(path)->read(start);
  return cat(*bytes, " ") + std::string(start.data(), start.size());
} catch (MatrixError const&) {
  return "";  // rank 0 says what is wrong
}

}  // namespace

bool can_be_read_by_ranks(Ranks& ranks, std::filesystem::path const& path) {
  std::vector<std::string> const all = gather(ranks, identity(path));
  return !all.front().empty() && std::ranges::count(all, all.front()) == ranks.ranks();
}

DealtRows read_rows(Ranks& ranks, std::filesystem::path const& path, ReadOptions const& options) {
  FileType type{};
  in_file_order(ranks, path.string(), [&] { type = file_type(path); });
  DealtRows rows = type == FileType::petsc ? read_petsc_rows(ranks, path, options)
                                           : read_matrix_market_rows(ranks, path, options);
  Stretches const even = balanced(ranks, rows);
  return redealt(ranks, std::move(rows), even);
}

}  // namespace tcsolve
