// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/energy.hpp>

#include <tcsolve/core/device_energy.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/solvers/report.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace tcsolve {
namespace {

namespace fs = std::filesystem;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::string line_of(fs::path const& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

double number_of(fs::path const& file) {
  std::ifstream in(file);
  double v = unknown;
  return in >> v ? v : unknown;
}

/// Whether what the folder counts is a whole: a package, which holds its cores, or memory.
bool is_whole(std::string const& folder, std::string const& name) {
  return folder.starts_with("intel-rapl:") && (name.starts_with("package") || name == "dram");
}

}  // namespace

Rapl::Rapl(fs::path const& powercap) {
  std::error_code none;
  for (auto const& entry : fs::directory_iterator(powercap, none)) {
    std::string const name = line_of(entry.path() / "name");
    if (!is_whole(entry.path().filename().string(), name)) continue;
    double const range = number_of(entry.path() / "max_energy_range_uj");
    counters_.push_back({entry.path() / "energy_uj", name, range});
  }
  std::ranges::sort(counters_, {}, &Counter::file);
  if (counters_.empty()) {
    why_ = cat("this machine has no RAPL counters below ", powercap.string());
    return;
  }
  for (Counter const& counter : counters_)
    if (::access(counter.file.c_str(), R_OK) != 0)
      why_ = cat(counter.file.string(),
                 " cannot be read; only root may, unless it is allowed to "
                 "others: chmod a+r");
}

std::string Rapl::text() const {
  std::string text;
  for (Counter const& counter : counters_) text += (text.empty() ? "RAPL: " : ", ") + counter.name;
  return text;
}

std::vector<double> Rapl::read() const {
  std::vector<double> now;
  for (Counter const& counter : counters_) {
    now.push_back(number_of(counter.file));
    if (std::isnan(now.back())) return {};
  }
  return now;
}

double Rapl::between(std::vector<double> const& before, std::vector<double> const& after,
                     double seconds) const {
  constexpr double most_watts = 1000;  // of a counter
  if (before.size() != counters_.size() || after.size() != counters_.size()) return unknown;
  double sum = 0;
  for (std::size_t k = 0; k < counters_.size(); ++k) {
    double const range = counters_[k].range;
    if (1e6 * most_watts * seconds > range) return unknown;
    double const counted = after[k] - before[k];
    sum += counted < 0 ? counted + range : counted;
  }
  return 1e-6 * sum;
}

EnergyMeter::EnergyMeter(Context& ctx, fs::path const& powercap) : ctx_(ctx), rapl_(powercap) {}

void EnergyMeter::start() {
  if (ctx_.device() != nullptr) {
    ctx_.synchronize();
    device_before_ = cuda::consumed_joules(*ctx_.device());
  } else {
    before_ = rapl_.read();
  }
}

Joules EnergyMeter::per_solve(double seconds, std::size_t solves) const {
  bool const device = ctx_.device() != nullptr;
  double const least = device ? 0.5 : 0.05;
  if (!device && !rapl_.why().empty()) return {unknown, rapl_.why()};
  if (device && std::isnan(device_before_))
    return {unknown, "NVML does not tell the energy of this device"};
  if (solves == 0 || !(seconds > 0)) return {unknown, "nothing was timed"};
  if (seconds < least)
    return {unknown, cat("the timed solves took ", figure_text(seconds),
                         " s, and the counters need ", figure_text(least), " s; --repeat ",
                         std::ceil(least / seconds * static_cast<double>(solves)))};
  std::vector<double> const after = device ? std::vector<double>{} : rapl_.read();
  if (!device && (before_.empty() || after.empty()))
    return {unknown, "a RAPL counter holds no number"};
  double const sum = device ? cuda::consumed_joules(*ctx_.device()) - device_before_
                            : rapl_.between(before_, after, seconds);
  if (!(sum >= 0)) return {unknown, "the counters may have gone round more than once"};
  return {sum / static_cast<double>(solves), device ? "NVML: the whole device" : rapl_.text()};
}

}  // namespace tcsolve
