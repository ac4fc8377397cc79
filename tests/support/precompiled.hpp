// SPDX-License-Identifier: Apache-2.0
/// What nearly every test includes and no change here touches, parsed once for each test program.
/// A test still includes what it uses.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
