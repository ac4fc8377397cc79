/* SPDX-License-Identifier: Apache-2.0 */
/* libtcsolve_c as a C99 program sees it: every status, verdicts, callbacks, threads, other types. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tcsolve.h"

static int failures = 0;
#define CHECK(condition)                                                               \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      ++failures;                                                                      \
      fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition,   \
              tcs_last_error());                                                       \
    }                                                                                  \
  } while (0)

enum { n = 60 };
static int64_t offsets[n + 1], wide_columns[3 * n];
static int32_t columns[3 * n], columns_from_1[3 * n], offsets_from_1[n + 1];
static double values[3 * n], b[n], x[n];
static float narrow_values[3 * n];

/* tridiag(-1, 2.5, upper) */
static tcs_csr matrix(double upper) {
  tcs_csr a = {sizeof a, n, n, 0, offsets, columns, values, 64, 32, TCS_F64, 0, TCS_HOST, 0};
  int64_t k = 0;
  int32_t i;
  for (i = 0; i < n; ++i) {
    offsets[i] = k;
    if (i > 0) columns[k] = i - 1, values[k++] = -1;
    columns[k] = i, values[k++] = 2.5;
    if (i + 1 < n) columns[k] = i + 1, values[k++] = upper;
    b[i] = 1 + i % 3;
    x[i] = 0;
  }
  offsets[n] = a.entries = k;
  for (i = 0; i < k; ++i) {
    wide_columns[i] = columns_from_1[i] = columns[i] + 1;
    narrow_values[i] = (float)values[i];
  }
  for (i = 0; i <= n; ++i) offsets_from_1[i] = (int32_t)offsets[i] + 1;
  return a;
}

/* ||b - A x|| / ||b||, or of A^T */
static double residual(tcs_csr const* a, int transpose) {
  double r[n], rr = 0, bb = 0;
  int64_t i, k;
  for (i = 0; i < n; ++i) r[i] = b[i];
  for (i = 0; i < n; ++i)
    for (k = offsets[i]; k < offsets[i + 1]; ++k)
      r[transpose ? columns[k] : i] -= ((double const*)a->values)[k] * x[transpose ? i : columns[k]];
  for (i = 0; i < n; ++i) rr += r[i] * r[i], bb += b[i] * b[i];
  return sqrt(rr / bb);
}

static char const* const options =
    "{backend: host, solver: {type: gmres, rtol: 1.0e-10}, preconditioner: {type: jacobi}}";

static tcs_solver* solver_of(char const* text) {
  tcs_solver* s = NULL;
  CHECK(tcs_solver_create(&s, NULL, text) == TCS_OK);
  CHECK(s != NULL);
  return s;
}

/* Multigrid of a chain by the vectors and the nodes that it is told of. */
static void knows_nodes(void) {
  static double ones[n], wrong[n];
  tcs_csr a = matrix(-1);
  tcs_solver* s =
      solver_of("{backend: host, solver: {type: cg, rtol: 1.0e-10}, preconditioner: {type: amg, "
                "coarse_size: 8}}");
  tcs_nodes nodes;
  tcs_report* r = NULL;
  int32_t i;
  for (i = 0; i < n; ++i) ones[i] = 1, wrong[i] = i % 2 ? -1 : 1;
  memset(&nodes, 0, sizeof nodes);
  CHECK(tcs_solver_set_nodes(s, &nodes) == TCS_SHAPE); /* no size */
  nodes.size = sizeof nodes;
  CHECK(tcs_solver_set_nodes(s, NULL) == TCS_SHAPE);
  nodes.rows = n, nodes.vectors = 1, nodes.near_nullspace = ones;
  CHECK(tcs_solver_set_nodes(s, &nodes) == TCS_OK);
  CHECK(tcs_solver_set_csr(s, &a, 1) == TCS_OK);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, &r) == TCS_OK);
  CHECK(tcs_report_solved(r) == 1 && residual(&a, 0) <= 1e-10);
  tcs_report_free(r);
  nodes.rows = n - 1;
  CHECK(tcs_solver_set_nodes(s, &nodes) == TCS_OK);
  CHECK(tcs_solver_set_csr(s, &a, 1) == TCS_MATRIX);
  CHECK(strstr(tcs_last_error(), "vector 1 of 1 has") != NULL);
  nodes.rows = n, nodes.near_nullspace = wrong, nodes.block = 9;
  CHECK(tcs_solver_set_nodes(s, &nodes) == TCS_SHAPE);
  nodes.block = 1, nodes.near_nullspace = NULL, nodes.coordinates = ones, nodes.dim = 4;
  CHECK(tcs_solver_set_nodes(s, &nodes) == TCS_SHAPE);
  tcs_solver_free(s);
}

static void solves(void) {
  tcs_csr a = matrix(-1.2);
  tcs_solver* s = solver_of(options);
  tcs_report* r = NULL;
  tcs_call call;
  int64_t its[500];
  double norms[500];
  int64_t count, i;
  CHECK(tcs_solver_set_csr(s, &a, 1) == TCS_OK);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, &r) == TCS_OK);
  CHECK(tcs_report_solved(r) == 1);
  CHECK(residual(&a, 0) <= 1.01e-10);
  CHECK(strcmp(tcs_report_text(r, "outcome"), "converged") == 0);
  CHECK(strstr(tcs_report_text(r, "json"), "\"converged\":true") != NULL);
  CHECK(tcs_report_text(r, "no such key") == NULL);
  CHECK(isnan(tcs_report_number(r, "no such key")));
  CHECK(tcs_report_number(r, "true_residual") <= tcs_report_number(r, "tolerance"));
  count = tcs_report_history(r, its, norms, 500);
  CHECK(count == (int64_t)tcs_report_number(r, "iterations") && count > 3);
  for (i = 0; i < count; ++i) CHECK(its[i] == i + 1 && norms[i] >= 0);
  CHECK(tcs_report_history(r, its, norms, 1) == count);
  CHECK(strcmp(tcs_solver_text(s, "format"), "") != 0);
  CHECK(strstr(tcs_solver_text(s, "options"), "gmres") != NULL);
  CHECK(strstr(tcs_solver_text(s, "setup"), "\"seconds\"") != NULL);
  CHECK(tcs_solver_text(s, "no such key") == NULL);
  tcs_report_free(r);

  /* The verdict of a solve without a report. */
  tcs_call_init(&call);
  call.max_iters = 2;
  call.zero_guess = 1;
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, &call, NULL) == TCS_NOT_SOLVED);
  CHECK(strstr(tcs_last_error(), "2 iterations") != NULL);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, &call, &r) == TCS_OK);
  CHECK(tcs_report_solved(r) == 0);
  CHECK(strcmp(tcs_report_text(r, "outcome"), "max_iterations") == 0);
  CHECK(tcs_report_number(r, "exit_code") == 3);
  tcs_report_free(r);

  /* A tolerance of the call, a guess that is not read, and A^T. */
  tcs_call_init(&call);
  call.rtol = 1e-4;
  call.zero_guess = 1;
  call.transpose = 1;
  x[0] = NAN;
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, &call, &r) == TCS_OK);
  CHECK(tcs_report_solved(r) == 1);
  CHECK(residual(&a, 1) <= 1.01e-4 && residual(&a, 1) > 1e-9);
  CHECK(strstr(tcs_solver_text(s, "setup"), "a second set-up") != NULL);
  tcs_report_free(r);

  /* New values. */
  for (i = 0; i < a.entries; ++i) values[i] *= 1 + 0.01 * (double)(i % 7);
  CHECK(tcs_solver_update_values(s, &a) == TCS_OK);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_OK);
  CHECK(residual(&a, 0) <= 1.01e-10);
  tcs_solver_free(s);
}

static void takes_other_types(void) {
  tcs_csr a = matrix(-1.2);
  tcs_csr other = a;
  tcs_solver* s = solver_of(options);
  double there[n];
  CHECK(tcs_solver_set_csr(s, &a, 0) == TCS_OK);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_OK);
  memcpy(there, x, sizeof x);
  /* Fortran's numbers, 64-bit columns: the same matrix, the same bits. */
  other.base = 1;
  other.column_bits = 64;
  other.columns = wide_columns;
  other.offsets = offsets_from_1;
  other.offset_bits = 32;
  memset(x, 0, sizeof x);
  CHECK(tcs_solver_set_csr(s, &other, 1) == TCS_OK);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_OK);
  CHECK(memcmp(x, there, sizeof x) == 0);
  other.column_bits = 32;
  other.columns = columns_from_1;
  memset(x, 0, sizeof x);
  CHECK(tcs_solver_set_csr(s, &other, 1) == TCS_OK);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_OK);
  CHECK(memcmp(x, there, sizeof x) == 0);
  /* FP32 values for a solver that borrows the arrays of before. */
  CHECK(tcs_solver_set_csr(s, &a, 1) == TCS_OK);
  other = a;
  other.value_type = TCS_F32;
  other.values = narrow_values;
  memset(x, 0, sizeof x);
  CHECK(tcs_solver_update_values(s, &other) == TCS_OK);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_OK);
  CHECK(memcmp(x, there, sizeof x) != 0); /* -1.2 is another number in FP32 */
  CHECK(residual(&a, 0) < 1e-6);
  other.space = TCS_CUDA;
  CHECK(tcs_solver_set_csr(s, &other, 0) == TCS_UNSUPPORTED);
  tcs_solver_free(s);
}

static void says_what_is_wrong(void) {
  tcs_csr a = matrix(-1), bad = a;
  tcs_solver* s = NULL;
  tcs_context* c = NULL;
  tcs_report* r = NULL;
  tcs_call call;
  CHECK(tcs_solver_create(&s, NULL, "{solver: {type: gmres, restrat: 3}}") == TCS_CONFIG);
  CHECK(s == NULL && strstr(tcs_last_error(), "did you mean 'restart'?") != NULL);
  CHECK(tcs_solver_create(&s, NULL, "{solver: [") == TCS_CONFIG);
  CHECK(tcs_solver_create(NULL, NULL, options) == TCS_SHAPE);
  CHECK(tcs_context_create(&c, "{backend: host, treads: 2}", NULL, NULL) == TCS_CONFIG);
  CHECK(strstr(tcs_last_error(), "unknown key 'treads'") != NULL);
  if (!tcs_has_cuda())
    CHECK(tcs_context_create(&c, "{backend: cuda}", NULL, NULL) == TCS_NOT_BUILT);
  s = solver_of(options);
  CHECK(strcmp(tcs_last_error(), "") == 0);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, &r) == TCS_SHAPE && r == NULL);
  CHECK(tcs_solver_update_values(s, &a) == TCS_SHAPE);
  CHECK(tcs_solver_set_csr(s, NULL, 0) == TCS_SHAPE);
  bad.size = 0;
  CHECK(tcs_solver_set_csr(s, &bad, 0) == TCS_SHAPE);
  bad = a;
  bad.offset_bits = 16;
  CHECK(tcs_solver_set_csr(s, &bad, 0) == TCS_SHAPE);
  bad = a;
  bad.rows = (int64_t)1 << 40;
  CHECK(tcs_solver_set_csr(s, &bad, 0) == TCS_MATRIX);
  bad = a;
  columns[4] = n + 7;
  CHECK(tcs_solver_set_csr(s, &bad, 0) == TCS_MATRIX);
  CHECK(strstr(tcs_last_error(), "row 2") != NULL);
  a = matrix(-1);
  CHECK(tcs_solver_set_csr(s, &a, 0) == TCS_OK);
  CHECK(tcs_solver_solve(s, NULL, x, 1, n, TCS_HOST, NULL, &r) == TCS_SHAPE);
  CHECK(tcs_solver_solve(s, b, x, 2, n - 1, TCS_HOST, NULL, &r) == TCS_SHAPE);
  CHECK(tcs_solver_solve(s, b, x, 1, n, 7, NULL, &r) == TCS_SHAPE);
  tcs_call_init(&call);
  call.rtol = 3;
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, &call, &r) == TCS_CONFIG);
  bad = a;
  bad.entries -= 1;
  CHECK(tcs_solver_update_values(s, &bad) == TCS_SHAPE);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_OK);
  tcs_solver_free(s);
  s = solver_of("{backend: host, solver: {type: cg}, preconditioner: {type: ic}}");
  a = matrix(-1);
  values[0] = -1e3; /* no Cholesky factor */
  CHECK(tcs_solver_set_csr(s, &a, 0) != TCS_OK || tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL,
                                                                   NULL) == TCS_NOT_SOLVED);
  tcs_solver_free(s);
  tcs_solver_free(NULL);
  tcs_report_free(NULL);
  tcs_context_free(NULL);
  CHECK(tcs_solver_cancel(NULL) == TCS_SHAPE);
  CHECK(tcs_report_solved(NULL) == 0 && tcs_report_text(NULL, "json") == NULL);
}

struct counted {
  tcs_solver* solver;
  int calls, refused, stop_after;
};

static int32_t watch(void* user, int64_t iteration, double norm) {
  struct counted* c = user;
  c->calls += 1;
  CHECK(iteration >= 1 && norm >= 0);
  if (tcs_solver_solve(c->solver, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_BUSY) c->refused += 1;
  return c->calls < c->stop_after;
}

static int32_t stretch(void* user, double const* in, double* out, int32_t transpose, void* stream) {
  int i;
  (void)transpose;
  (void)stream;
  if (*(int*)user != 0) return *(int*)user;
  for (i = 0; i < n; ++i)
    out[i] = 2.5 * in[i] - (i > 0 ? in[i - 1] : 0) - (i + 1 < n ? in[i + 1] : 0);
  return 0;
}

static void hears_callbacks(void) {
  tcs_csr a = matrix(-1.2);
  tcs_solver* s = solver_of(options);
  tcs_report* r = NULL;
  struct counted c = {NULL, 0, 0, 4};
  tcs_call call;
  int code = 0;
  c.solver = s;
  CHECK(tcs_solver_set_csr(s, &a, 1) == TCS_OK);
  tcs_call_init(&call);
  call.progress = watch;
  call.user = &c;
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, &call, &r) == TCS_OK);
  CHECK(c.calls == 4 && c.refused == 4);
  CHECK(strcmp(tcs_report_text(r, "outcome"), "cancelled") == 0);
  tcs_report_free(r);
  /* Spent: the next one runs. A cancel before a call ends that one, and that one alone. */
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_OK);
  memset(x, 0, sizeof x);
  CHECK(tcs_solver_cancel(s) == TCS_OK);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_NOT_SOLVED);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_OK);
  CHECK(tcs_solver_cancel(s) == TCS_OK);
  CHECK(tcs_solver_set_csr(s, &a, 1) == TCS_CANCELLED);
  CHECK(tcs_solver_set_csr(s, &a, 1) == TCS_OK);
  tcs_solver_free(s);

  s = solver_of("{backend: host, solver: {type: cg}}");
  memset(x, 0, sizeof x);
  CHECK(tcs_solver_set_operator(s, n, n, NULL, NULL, &code) == TCS_SHAPE);
  CHECK(tcs_solver_set_operator(s, n, n, stretch, NULL, &code) == TCS_OK);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_OK);
  a = matrix(-1);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_OK);
  CHECK(residual(&a, 0) <= 1.01e-8);
  memset(x, 0, sizeof x);
  code = 42;
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_CALLBACK);
  CHECK(strstr(tcs_last_error(), "42") != NULL);
  code = TCS_UNSUPPORTED;
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_UNSUPPORTED);
  tcs_solver_free(s);
}

static void solves_columns(void) {
  tcs_csr a = matrix(-1.2);
  tcs_solver* s = solver_of(options);
  tcs_report* r = NULL;
  double B[2 * (n + 3)], X[2 * (n + 3)];
  int i;
  for (i = 0; i < 2 * (n + 3); ++i) B[i] = i < n + 3 ? b[i % n] : 0, X[i] = 0;
  X[n] = -7;
  CHECK(tcs_solver_set_csr(s, &a, 0) == TCS_OK);
  CHECK(tcs_solver_solve(s, B, X, 2, n + 3, TCS_HOST, NULL, &r) == TCS_OK);
  CHECK(tcs_report_columns(r) == 2 && tcs_report_solved(r) == 1);
  CHECK(strcmp(tcs_report_text(r, "outcome"), "converged") == 0);
  CHECK(tcs_report_select(r, 1) == TCS_OK);
  CHECK(strcmp(tcs_report_text(r, "cause"), "zero_rhs") == 0);
  CHECK(tcs_report_select(r, 2) == TCS_SHAPE);
  CHECK(X[n] == -7); /* between the columns nothing is written */
  memcpy(x, X, sizeof x);
  CHECK(residual(&a, 0) <= 1.01e-10);
  tcs_report_free(r);
  tcs_solver_free(s);
}

/* A by halves of its entries, from the last to the first, counted from 1 in 64 bits. */
static void assembles(void) {
  static int64_t i64[6 * n], j64[6 * n];
  static int32_t i32[6 * n], j32[6 * n];
  static double halves[6 * n];
  tcs_csr a = matrix(-1.2);
  tcs_coo coo = {sizeof coo, n, n, 0, i64, j64, halves, 64, TCS_F64, 1, TCS_HOST, 0};
  tcs_solver* s = solver_of(options);
  int64_t k, m = 0;
  int32_t i;
  for (i = n - 1; i >= 0; --i)
    for (k = offsets[i]; k < offsets[i + 1]; ++k) {
      i64[m] = i + 1, j64[m] = columns[k] + 1, halves[m] = values[k] / 2, ++m;
      i64[m] = i + 1, j64[m] = columns[k] + 1, halves[m] = values[k] / 2, ++m;
    }
  for (k = 0; k < m; ++k) i32[k] = (int32_t)i64[k] - 1, j32[k] = (int32_t)j64[k] - 1;
  coo.entries = m;
  CHECK(tcs_solver_update_coo(s, halves, m, TCS_HOST) == TCS_SHAPE);
  CHECK(tcs_solver_set_coo(s, &coo) == TCS_OK);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_OK);
  CHECK(residual(&a, 0) <= 1.01e-10);
  for (k = 0; k < m; ++k) halves[k] *= 2;
  for (k = 0; k < a.entries; ++k) values[k] *= 2;
  CHECK(tcs_solver_update_coo(s, halves, m, TCS_HOST) == TCS_OK);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_OK);
  CHECK(residual(&a, 0) <= 1.01e-10);
  CHECK(tcs_solver_update_coo(s, halves, m - 1, TCS_HOST) == TCS_SHAPE);
  coo.i = i32, coo.j = j32, coo.index_bits = 32, coo.base = 0;
  memset(x, 0, sizeof x);
  CHECK(tcs_solver_set_coo(s, &coo) == TCS_OK);
  CHECK(tcs_solver_solve(s, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_OK);
  CHECK(residual(&a, 0) <= 1.01e-10);
  i32[5] = n;
  CHECK(tcs_solver_set_coo(s, &coo) == TCS_MATRIX);
  CHECK(strstr(tcs_last_error(), "entry 5") != NULL);
  coo.base = 2;
  CHECK(tcs_solver_set_coo(s, &coo) == TCS_SHAPE);
  CHECK(tcs_solver_set_coo(s, NULL) == TCS_SHAPE);
  tcs_solver_free(s);
}

struct job {
  tcs_solver* solver;
  tcs_status status;
  int32_t solved;
  double x[n];
};

static void* solve_in_thread(void* given) {
  struct job* j = given;
  tcs_report* r = NULL;
  int i;
  for (i = 0; i < 200; ++i) {
    memset(j->x, 0, sizeof j->x);
    j->status = tcs_solver_solve(j->solver, b, j->x, 1, n, TCS_HOST, NULL, &r);
    if (j->status == TCS_OK) j->solved += tcs_report_solved(r);
    if (j->status != TCS_OK && j->status != TCS_BUSY) break;
    tcs_report_free(r);
    r = NULL;
  }
  return NULL;
}

/* One solver in two threads: each call is either refused or whole. */
static void serves_one_thread_at_a_time(void) {
  tcs_csr a = matrix(-1.2);
  tcs_solver* s = solver_of(options);
  struct job jobs[2];
  pthread_t threads[2];
  int k;
  CHECK(tcs_solver_set_csr(s, &a, 1) == TCS_OK);
  memset(jobs, 0, sizeof jobs);
  for (k = 0; k < 2; ++k) {
    jobs[k].solver = s;
    CHECK(pthread_create(&threads[k], NULL, solve_in_thread, &jobs[k]) == 0);
  }
  for (k = 0; k < 2; ++k) {
    pthread_join(threads[k], NULL);
    CHECK(jobs[k].status == TCS_OK || jobs[k].status == TCS_BUSY);
  }
  CHECK(jobs[0].solved + jobs[1].solved >= 200 || jobs[0].solved > 0 || jobs[1].solved > 0);
  tcs_solver_free(s);
}

static void count_line(void* user, int32_t severity, char const* text) {
  CHECK(severity >= 0 && severity <= 2 && text != NULL);
  *(int*)user += 1;
}

/* Handles are freed in any order. */
static void outlives_its_context(void) {
  tcs_csr a = matrix(-1.2);
  tcs_context* c = NULL;
  tcs_solver *s = NULL, *t = NULL;
  int lines = 0;
  CHECK(tcs_context_create(&c, "{backend: host, threads: 1}", count_line, &lines) == TCS_OK);
  CHECK(tcs_solver_create(&s, c, NULL) == TCS_OK);
  CHECK(tcs_solver_create(&t, c, options) == TCS_OK);
  tcs_context_free(c);
  CHECK(tcs_solver_set_csr(s, &a, 1) == TCS_OK);
  CHECK(tcs_solver_set_csr(t, &a, 1) == TCS_OK);
  CHECK(lines > 0);
  tcs_solver_free(s);
  CHECK(tcs_solver_solve(t, b, x, 1, n, TCS_HOST, NULL, NULL) == TCS_OK);
  tcs_solver_free(t);
}

int main(void) {
  CHECK(tcs_version() / 10000 < 100 && strlen(tcs_version_text()) >= 5);
  knows_nodes();
  solves();
  takes_other_types();
  says_what_is_wrong();
  hears_callbacks();
  solves_columns();
  assembles();
  serves_one_thread_at_a_time();
  outlives_its_context();
  if (failures == 0) puts("c: all checks hold");
  return failures == 0 ? 0 : 1;
}
