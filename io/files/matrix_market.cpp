// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/matrix_market.hpp>

#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/core/parallel.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/io/files/matrix_text.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <new>

namespace tcsolve {
namespace {

using Clock = std::chrono::steady_clock;
TextInput file_text(std::filesystem::path const& path) {
  return {path.string(), [path] { return open_file(path); }};
}
TextInput text_input(std::string_view text, std::string const& name) {
  return {name, [text] { return open_text(text); }};
}

/// f(), where running out of memory is a MemoryError.
template <class F>
auto within_memory(std::string const& name, F const& f) {
  try {
    return f();
  } catch (std::bad_alloc const&) { throw MemoryError(cat(name, ": out of memory while reading")); }
}

/// Entries in file order into the builder: placed, mirrored and sliced by all threads.
/// Returns whether entries lie on both sides of the diagonal.
bool collect(MatrixText& text, CsrBuilder& builder, ReadOptions const& options) {
  auto const& header = text.header();
  bool lower = false, upper = false;
  for (Offset first = 0;; first = text.entries()) {
    auto const chunks = text.next(options.nonfinite);
    if (chunks.empty()) return lower && upper;
    std::vector<Offset> start(chunks.size());
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      start[i] = first;
      first += static_cast<Offset>(chunks[i].entries.size());
      lower |= chunks[i].lower;
      upper |= chunks[i].upper;
    }
    std::vector<CsrBuilder::Slice> slices(chunks.size());
    parallel_tasks(thread_count(options.threads), static_cast<std::int64_t>(chunks.size()),
                   [&](std::int64_t task, int) {
                     auto const i = static_cast<std::size_t>(task);
                     auto& entries = chunks[i].entries;
                     if (header.layout == MatrixLayout::array)
                       place_array_entries(entries, start[i], header);
                     mirror(entries, header.symmetry);
                     slices[i] = builder.slice(entries);
                   });
    for (auto& slice : slices) builder.append(std::move(slice));
  }
}

/// Finite entries may have a sum that is not.
void check_sums(Csr<double> const& a, std::string const& name) {
  for (Index i = 0; i < a.rows; ++i)
    for (double const value : a.row_values(i))
      if (!std::isfinite(value))
        throw MatrixError(cat(name, ": the duplicate entries of row ", std::int64_t{i} + 1,
                              " have a sum beyond the range of double"));
}

Csr<double> read(TextInput const& input, ReadOptions const& options) {
  auto const start = Clock::now();
  MatrixText text(cancellable(input.open(), options.cancel), input.name, options.threads);
  MatrixHeader const header = text.read_header();
  require_memory(header.reading_bytes(), options.memory_limit,
                 cat(input.name, ": a matrix of ", header.rows, " x ", header.cols, " with up to ",
                     header.max_entries(), " entries"));
  CsrBuilder builder(header.rows, header.cols);
  bool const both_triangles =
      collect(text, builder, options) && header.symmetry != MatrixSymmetry::general;

  auto const assembly = Clock::now();
  bool const refuse = both_triangles || options.duplicates == Duplicates::refuse;
  Csr<double> a;
  try {
    a = builder.finish(refuse ? Repeats::refuse : Repeats::sum, {options.threads, options.cancel});
  } catch (RepeatedEntry const& repeated) {
    MatrixText again(input.open(), input.name, 1);
    again.read_header();
    bool const mirrored = header.symmetry != MatrixSymmetry::general;
    again.fail(
        again.line_of_repeat(repeated.row, repeated.col, mirrored),
        cat(repeated.what(), both_triangles ? ": the symmetric file stores both triangles" : ""));
  }
  if (a.entries() < header.max_entries() && options.nonfinite == NonFinite::refuse)
    check_sums(a, input.name);
  if (options.stats)
    *options.stats = {.seconds = seconds_since(start),
                      .assemble_seconds = seconds_since(assembly),
                      .text_bytes = text.bytes(),
                      .lines = text.lines(),
                      .stored = text.entries(),
                      .threads = thread_count(options.threads)};
  return a;
}

/// Rows of x, from `first` on, whose numbers stand in `rows` one after another.
void place_rows(std::vector<double> const& rows, std::size_t first, Columns& x) {
  auto const n = static_cast<std::size_t>(x.rows), k = static_cast<std::size_t>(x.cols);
  for (std::size_t at = 0, i = first; at < rows.size(); ++i)
    for (std::size_t j = 0; j < k; ++j) x.values[j * n + i] = rows[at++];
}

Columns read_numbers(TextInput const& input, ReadOptions const& options) {
  auto const start = Clock::now();
  int const threads = thread_count(options.threads);
  MatrixText text(cancellable(input.open(), options.cancel), input.name, threads);
  Index const cols = text.read_no_header();
  std::vector<std::vector<double>> pieces;  // of whole rows, row after row
  std::vector<std::size_t> first{0};        // the first row of each
  for (auto chunks = text.next(options.nonfinite); !chunks.empty();
       chunks = text.next(options.nonfinite)) {
    require_memory(16 * text.entries(), options.memory_limit,
                   cat(input.name, ": ", text.entries(), " numbers or more"));
    for (EntryChunk& chunk : chunks) {
      first.push_back(first.back() + chunk.numbers.size() / static_cast<std::size_t>(cols));
      pieces.push_back(std::move(chunk.numbers));
    }
  }
  if (text.lines() == 0) text.fail(1, "the file is empty");
  Columns x{narrow(static_cast<std::int64_t>(first.back()), "length of the vector"), cols,
            std::vector<double>(static_cast<std::size_t>(text.entries()))};
  parallel_tasks(threads, static_cast<std::int64_t>(pieces.size()), [&](std::int64_t task, int) {
    auto const i = static_cast<std::size_t>(task);
    place_rows(pieces[i], first[i], x);
  });
  if (options.stats)
    *options.stats = {.seconds = seconds_since(start),
                      .text_bytes = text.bytes(),
                      .lines = text.lines(),
                      .stored = text.entries(),
                      .threads = threads};
  return x;
}

bool is_matrix_market(TextInput const& input) {
  std::array<char, 2> start{};
  input.open()->read(start);
  return start == std::array{'%', '%'};
}

Columns read_any_columns(TextInput const& input, ReadOptions const& options) {
  return is_matrix_market(input)
             ? dense_columns(read(input, options), input.name, options.memory_limit)
             : read_numbers(input, options);
}

}  // namespace

Csr<double> read_matrix_market(TextInput const& input, ReadOptions const& options) {
  return within_memory(input.name, [&] { return read(input, options); });
}

MatrixHeader read_matrix_market_header(TextInput const& input) {
  return within_memory(input.name,
                       [&] { return MatrixText(input.open(), input.name, 1).read_header(); });
}

Columns read_columns(TextInput const& input, ReadOptions const& options) {
  return within_memory(input.name, [&] { return read_any_columns(input, options); });
}

ColumnsSize columns_size(TextInput const& input) {
  if (!is_matrix_market(input))
    return {std::nullopt, MatrixText(input.open(), input.name, 1).read_no_header()};
  MatrixHeader const header = read_matrix_market_header(input);
  return {header.rows, header.cols};
}

std::vector<double> read_vector(TextInput const& input, ReadOptions const& options) {
  return one_column(read_columns(input, options), input.name);
}

Csr<double> read_matrix_market(std::filesystem::path const& path, ReadOptions const& options) {
  return read_matrix_market(file_text(path), options);
}

Csr<double> parse_matrix_market(std::string_view text, std::string const& name,
                                ReadOptions const& options) {
  return read_matrix_market(text_input(text, name), options);
}

MatrixHeader read_matrix_market_header(std::filesystem::path const& path) {
  return read_matrix_market_header(file_text(path));
}

std::vector<double> read_vector(std::filesystem::path const& path, ReadOptions const& options) {
  return read_vector(file_text(path), options);
}

std::vector<double> parse_vector(std::string_view text, std::string const& name,
                                 ReadOptions const& options) {
  return read_vector(text_input(text, name), options);
}

}  // namespace tcsolve
