/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_c [CALLS]: functions of libtcsolve_c in any order, with whatever arguments and arrays that hold
 * what they like. A status comes back each time, with words where it is not TCS_OK, and the process
 * goes on. Pointers are good or null, and what is borrowed stays as it was, as the header asks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tcsolve.h"

enum { most = 40, room = most + 8, columns = 4, places = 3 * room };

static int failures = 0;
static long call = 0;
static long seen[100];

static uint64_t state = 88172645463325252u;
static uint32_t draw(uint32_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 33) % below;
}
static int one_in(uint32_t n) { return draw(n) == 0; }

static void failed(char const* what) {
  if (++failures < 20) fprintf(stderr, "call %ld: %s; last error: %s\n", call, what, tcs_last_error());
}

/* Every status is a known one, and what is refused says why. */
static void note(tcs_status status) {
  if (status < TCS_OK || status >= 100) {
    failed("a status of none");
    return;
  }
  seen[status] += 1;
  if (status == TCS_INTERNAL) failed("TCS_INTERNAL");
  if (status != TCS_OK && tcs_last_error()[0] == '\0') failed("a status without words");
}

/* Arrays of one matrix: 64 bits a number, so that a wrong width stays inside. */
typedef struct arrays {
  struct arrays* next;
  int64_t first[places], second[places];
  double values[places];
} arrays;

/* A solver and what it may have borrowed. */
typedef struct {
  tcs_solver* solver;
  arrays* lent;
  int64_t rows, cols; /* of the last matrix that it was given */
} place;

static arrays* lend(place* p) {
  arrays* const made = (arrays*)calloc(1, sizeof *made);
  if (made == NULL) exit(2);
  made->next = p->lent;
  p->lent = made;
  return made;
}
static void take_back(place* p) {
  while (p->lent != NULL) {
    arrays* const next = p->lent->next;
    free(p->lent);
    p->lent = next;
  }
}

static double any_value(void) {
  static double const odd[] = {0, -0.0, 1e300, -1e300, 1e-320, NAN, INFINITY, -INFINITY};
  return one_in(60) ? odd[draw(8)] : (double)draw(2001) / 1000 - 1;
}
static int64_t any_number(int64_t good, int64_t size) {
  static int64_t const odd[] = {-1, -2147483648LL, 2147483647LL, 4294967296LL, 1LL << 62};
  if (!one_in(200)) return good;
  return one_in(2) ? odd[draw(5)] : (int64_t)draw((uint32_t)size + 3) - 1;
}
static void store(int64_t* array, int32_t bits, int64_t k, int64_t number) {
  if (bits == 64)
    array[k] = number;
  else
    ((int32_t*)array)[k] = (int32_t)number;
}
static int32_t bits_of(int32_t usual) {
  static int32_t const odd[] = {0, 16, -32, 128};
  if (one_in(40)) return odd[draw(4)];
  return one_in(5) ? 96 - usual : usual;
}
static int32_t small_odd(int32_t usual) { return one_in(40) ? (int32_t)draw(7) - 2 : usual; }

/* A band of a few diagonals, dominant more often than not, with what is odd about it. New values come
 * with columns that are in range: they are not looked at. */
static tcs_csr matrix(place* p, int columns_are_looked_at) {
  arrays* const at = lend(p);
  int64_t const rows = one_in(30) ? 0 : 1 + draw(most);
  int64_t const cols = one_in(10) ? 1 + draw(most) : rows;
  int32_t const base = one_in(6), offset_bits = bits_of(64), column_bits = bits_of(32);
  tcs_csr a = {sizeof a, rows, cols, 0, at->first, at->second, at->values, offset_bits, column_bits,
               TCS_F64, small_odd(base), TCS_HOST, small_odd(0)};
  int64_t i, j, k = 0;
  for (i = 0; i < rows; ++i) {
    store(at->first, offset_bits, i, any_number(k + base, rows));
    for (j = i - 1; j <= i + 1; ++j)
      if (j >= 0 && j < cols && !one_in(25)) {
        store(at->second, column_bits, k, columns_are_looked_at ? any_number(j + base, cols) : j + base);
        at->values[k++] = any_value() + (i == j ? 2.5 : 0);
      }
  }
  store(at->first, offset_bits, rows, any_number(k + base, k + 1));
  a.entries = any_number(k, k);
  if (a.entries > places) a.entries = places;
  if (one_in(50)) a.rows = (int64_t)draw(most) - 2; /* fewer offsets than there are */
  if (one_in(100)) a.offsets = NULL;
  if (one_in(100)) a.columns = NULL;
  if (one_in(100)) a.values = NULL;
  if (one_in(20)) a.value_type = one_in(2) ? TCS_F32 : (int32_t)draw(5) - 1;
  if (one_in(60)) a.size = draw(100);
  if (a.rows > most) a.rows = most;
  if (a.cols > most) a.cols = most; /* what b and x have room for */
  return a;
}

static tcs_coo entries(place* p) {
  arrays* const at = lend(p);
  int64_t const n = 1 + draw(most), count = draw(places);
  int32_t const bits = bits_of(32), base = one_in(6);
  tcs_coo a = {sizeof a, n, n, count, at->first, at->second, at->values, bits,
               TCS_F64, small_odd(base), TCS_HOST, small_odd(0)};
  int64_t k;
  for (k = 0; k < count; ++k) {
    int64_t const i = draw((uint32_t)n);
    store(at->first, bits, k, any_number(i + base, n));
    store(at->second, bits, k, any_number((one_in(2) ? i : draw((uint32_t)n)) + base, n));
    at->values[k] = any_value();
  }
  if (one_in(50)) a.entries = (int64_t)draw(places) - 2;
  if (one_in(100)) a.i = NULL;
  if (one_in(100)) a.values = NULL;
  if (one_in(20)) a.value_type = TCS_F32;
  if (one_in(60)) a.size = draw(100);
  return a;
}

static int32_t code = 0;
static int32_t stretch(void* user, double const* x, double* y, int32_t transpose, void* stream) {
  place const* const p = (place const*)user;
  int64_t i;
  (void)transpose, (void)stream;
  for (i = 0; i < p->rows; ++i) y[i] = (2 + (double)(i % 3)) * x[i];
  return one_in(50) ? code : 0;
}
/* Now and then the callback calls back, which is refused. */
static int32_t watch(void* user, int64_t iteration, double norm) {
  place* const p = (place*)user;
  (void)norm;
  if (iteration == 2 && one_in(4)) {
    if (tcs_solver_set_csr(p->solver, NULL, 0) == TCS_OK) failed("a solver at work took a matrix");
    if (one_in(3)) tcs_solver_cancel(p->solver);
  }
  return !one_in(50);
}
static void hear(void* user, int32_t severity, char const* text) {
  if (user == NULL || severity < 0 || severity > 2 || text == NULL) failed("the log");
}

static void solve(place* p, tcs_report** r) {
  static double b[columns * room], x[columns * room];
  tcs_call c;
  int64_t k;
  int64_t const ld = one_in(20) ? (int64_t)draw(room) - 3 : room;
  tcs_call_init(&c);
  for (k = 0; k < columns * room; ++k) b[k] = any_value(), x[k] = one_in(3) ? any_value() : 0;
  if (one_in(3)) c.transpose = 1;
  if (one_in(2)) c.zero_guess = 1;
  if (one_in(4)) c.rtol = (double)draw(5) / 2 - 0.5;
  if (one_in(6)) c.atol = any_value();
  if (one_in(6)) c.time_limit = one_in(2) ? any_value() : 1e-6;
  c.max_iters = one_in(20) ? (int64_t)draw(9) - 4 : 1 + (int64_t)draw(40);
  if (one_in(3)) c.progress = watch, c.user = p, c.every = (int32_t)draw(5) - 1;
  if (one_in(60)) c.size = draw(120);
  tcs_report_free(*r);
  *r = NULL;
  note(tcs_solver_solve(p->solver, one_in(60) ? NULL : b, one_in(60) ? NULL : x,
                        one_in(3) ? (int64_t)draw(columns + 1) : 1, ld,
                        one_in(60) ? 2 + (int32_t)draw(3) : TCS_HOST, one_in(5) ? NULL : &c,
                        one_in(3) ? NULL : r));
}

static void ask(tcs_report* r) {
  static char const* const keys[] = {"outcome", "reason", "cause", "message", "json", "iterations",
                                     "true_residual", "solved", "none of these", ""};
  int64_t its[room];
  double norms[room];
  char const* const key = keys[draw(10)];
  if (r == NULL && tcs_report_solved(r) != 0) failed("no report is solved");
  tcs_report_text(r, key);
  tcs_report_number(r, key);
  tcs_report_columns(r);
  note(tcs_report_select(r, (int64_t)draw(6) - 1));
  tcs_report_history(r, one_in(4) ? NULL : its, one_in(4) ? NULL : norms, (int64_t)draw(room) - 2);
}

/* What is known of the nodes, of the last matrix or of none; nothing of it is lent. */
static void tell_nodes(place const* at) {
  static double values[places];
  tcs_nodes a;
  int k;
  for (k = 0; k < places; ++k) values[k] = any_value();
  memset(&a, 0, sizeof a);
  a.size = one_in(40) ? draw(100) : (uint32_t)sizeof a;
  a.block = one_in(20) ? (int32_t)draw(12) - 2 : (int32_t)draw(4);
  a.dim = one_in(20) ? (int32_t)draw(6) - 1 : 2 + (int32_t)draw(2);
  a.vectors = one_in(20) ? (int64_t)draw(20) - 1 : (int64_t)draw(3);
  a.rows = any_number(one_in(3) ? (int64_t)draw(most + 1) : at->rows, most);
  a.nodes = any_number(one_in(2) ? at->rows / 2 : at->rows / 3, most);
  /* An extent that the library cannot know to be wrong stays inside of the array. */
  if (a.vectors > 0 && a.rows > places / a.vectors && a.rows <= INT32_MAX) a.rows = places / a.vectors;
  if (a.dim > 0 && a.nodes > places / a.dim && a.nodes <= INT32_MAX) a.nodes = places / a.dim;
  a.coordinates = one_in(2) ? values : NULL;
  a.near_nullspace = one_in(2) ? values : NULL;
  note(tcs_solver_set_nodes(at->solver, one_in(60) ? NULL : &a));
}

int main(int argc, char** argv) {
  static char const* const texts[] = {
      NULL, "", "{}", "{backend: host, solver: cg}", "{backend: host, solver: {type: cg}, preconditioner: jacobi}",
      "{backend: host, solver: {type: bicgstab}, operator: {format: sell}}", "solver: {type: nothing}",
      "{", "[1, 2]", "{backend: host, solver: {type: lsmr}}",
      "{backend: host, solver: {type: cg}, preconditioner: {type: ilu}}",
      "{backend: host, solver: {type: gmres}, preconditioner: {type: ilu}}",
      "{backend: host, solver: {type: block_cg}}", "{backend: host, solver: {type: minres, vectors: fp32}}",
      "{backend: host, solver: auto, preconditioner: {type: amg}}",
      "{backend: host, solver: {type: cg}, preconditioner: {type: amg, coarse_size: 4}}",
      "{backend: host, solver: {type: cg}, nullspace: {constant: true}}",
      "{backend: host, solver: {type: fgmres}, operator: {values: fp16}, preconditioner: {type: schwarz}}"};
  static char const* const places_of_work[] = {NULL, "", "{backend: host}", "{backend: host, threads: 1}",
                                               "{backend: host, threads: -1}", "{seed: 3, backend: host}", "{", "{none: 1}"};
  enum { count = sizeof texts / sizeof *texts };
  long const given = argc > 1 ? atol(argv[1]) : 0, calls = given > 0 ? given : 20000;
  place p[2] = {{NULL, NULL, most, most}, {NULL, NULL, most, most}};
  tcs_context* context = NULL;
  tcs_report* r = NULL;
  int heard = 0;
  for (call = 0; call < calls; ++call) {
    place* const at = &p[draw(2)];
    switch (draw(14)) {
      case 0:
        if (!one_in(20)) break;
        tcs_context_free(context);
        context = NULL;
        note(tcs_context_create(one_in(30) ? NULL : &context, places_of_work[draw(8)], one_in(2) ? hear : NULL,
                                &heard));
        break;
      case 1:
        if (!one_in(12) && at->solver != NULL) break;
        tcs_solver_free(at->solver);
        at->solver = NULL;
        take_back(at);
        note(tcs_solver_create(one_in(60) ? NULL : &at->solver, one_in(2) ? context : NULL, texts[draw(count)]));
        break;
      case 2:
      case 3: {
        tcs_csr const a = matrix(at, 1);
        note(tcs_solver_set_csr(at->solver, one_in(60) ? NULL : &a, (int32_t)draw(2)));
        break;
      }
      case 4: {
        tcs_csr const a = matrix(at, 0);
        note(tcs_solver_update_values(at->solver, one_in(60) ? NULL : &a));
        break;
      }
      case 5: {
        tcs_coo const a = entries(at);
        note(tcs_solver_set_coo(at->solver, one_in(60) ? NULL : &a));
        break;
      }
      case 6: {
        arrays* const new_values = lend(at);
        int64_t k;
        for (k = 0; k < places; ++k) new_values->values[k] = any_value();
        note(tcs_solver_update_coo(at->solver, one_in(60) ? NULL : new_values->values,
                                   (int64_t)draw(places) - 1, one_in(60) ? 5 : TCS_HOST));
        break;
      }
      case 7:
        code = one_in(3) ? (int32_t)draw(8) - 1 : 0;
        at->rows = one_in(20) ? (int64_t)draw(5) - 2 : most;
        note(tcs_solver_set_operator(at->solver, at->rows, at->rows, one_in(60) ? NULL : stretch,
                                     one_in(2) ? stretch : NULL, at));
        break;
      case 8:
        if (tcs_solver_cancel(at->solver) != (at->solver != NULL ? TCS_OK : TCS_SHAPE)) failed("cancel");
        break;
      case 9: ask(r); break;
      case 10: {
        static char const* const keys[] = {"setup", "format", "options", "none"};
        tcs_solver_text(at->solver, keys[draw(4)]);
        break;
      }
      case 11:
        if (one_in(3)) tell_nodes(at);
        break;
      default: solve(at, &r);
    }
  }
  if (seen[TCS_OK] == 0 || seen[TCS_SHAPE] == 0 || seen[TCS_MATRIX] == 0 || seen[TCS_CONFIG] == 0 ||
      seen[TCS_CALLBACK] == 0 || seen[TCS_NOT_SOLVED] == 0)
    failed("too few kinds of calls");
  tcs_report_free(r);
  tcs_solver_free(p[0].solver);
  tcs_solver_free(p[1].solver);
  tcs_context_free(context);
  take_back(&p[0]);
  take_back(&p[1]);
  if (failures == 0) puts("c: all calls came back");
  return failures == 0 ? 0 : 1;
}
