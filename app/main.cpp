// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/program.hpp>

int main(int argc, char** argv) { return tcsolve::run_program(argc, argv); }
