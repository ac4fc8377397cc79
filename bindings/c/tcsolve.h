/* SPDX-License-Identifier: Apache-2.0 */
/* tcsolve from C: iterative solvers for A x = b, A sparse, with a verdict on every solve.
 *
 *     tcs_solver* solver = NULL;
 *     tcs_report* report = NULL;
 *     tcs_csr a = {sizeof a, n, n, entries, offsets, columns, values, 32, 32, TCS_F64, 0, TCS_HOST, 0};
 *     if (tcs_solver_create(&solver, NULL, "{solver: auto, preconditioner: auto}") != TCS_OK ||
 *         tcs_solver_set_csr(solver, &a, 1) != TCS_OK ||
 *         tcs_solver_solve(solver, b, x, 1, n, TCS_HOST, NULL, &report) != TCS_OK)
 *       puts(tcs_last_error());
 *     else if (!tcs_report_solved(report))
 *       puts(tcs_report_text(report, "message"));
 *     tcs_report_free(report);
 *     tcs_solver_free(solver);
 *
 * Numbers are FP64. Options are YAML or JSON text, with the keys of docs/reference.
 *
 * Errors. A function that returns a tcs_status returns TCS_OK or says in tcs_last_error() what is
 * wrong; nothing is thrown, and nothing ends the process. A solve that did not reach its tolerance
 * is no error: the report says so. Where no report is asked for, it is TCS_NOT_SOLVED.
 *
 * Memory. Arrays stay the caller's. Handles may be freed in any order: a solver keeps what it needs
 * of its context. Freeing NULL does nothing.
 *
 * Threads. A context, with its solvers, serves one thread at a time; another one gets TCS_BUSY.
 * tcs_solver_cancel() may be called by any thread and by a signal handler.
 *
 * Additions alone until the number in the library's name changes: structs begin with their size,
 * and numbers of constants stay. */
#ifndef TCSOLVE_C_H
#define TCSOLVE_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef struct tcs_context tcs_context; /* where is computed: the host or a device, threads */
typedef struct tcs_solver tcs_solver;   /* a matrix and what was set up for it */
typedef struct tcs_report tcs_report;   /* what became of a solve */

typedef int32_t tcs_status;
enum {
  TCS_OK = 0,
  TCS_CONFIG = 1,      /* options: every problem with its line and column */
  TCS_MATRIX = 2,      /* malformed, or not admitted by the format or the preconditioner */
  TCS_SHAPE = 3,       /* extents, null pointers, a solver without a matrix */
  TCS_UNSUPPORTED = 4, /* not offered by this method, format or type */
  TCS_NOT_BUILT = 5,   /* a part that this library was built without */
  TCS_DEVICE = 6,      /* no device, or a call of it has failed */
  TCS_MEMORY = 7,      /* not enough of it */
  TCS_CANCELLED = 8,   /* before there was a report: a set-up that was cancelled or out of time */
  TCS_BUSY = 9,        /* at work for another thread, or for the caller of this callback */
  TCS_CALLBACK = 10,   /* a function of the caller's has failed */
  TCS_NOT_SOLVED = 11, /* a solve without a report that did not reach its tolerance */
  TCS_INTERNAL = 99    /* please report it */
};
enum { TCS_HOST = 0, TCS_CUDA = 1 }; /* where arrays lie */
enum { TCS_F64 = 0, TCS_F32 = 1 };   /* types of values */

/* A in compressed sparse rows: columns ascending and unique in each row. Used where it lies with 32
 * or 64 bits of offsets, 32-bit columns, FP64 values and base 0; anything else is copied into that
 * form where it lies. */
typedef struct {
  uint32_t size; /* sizeof(tcs_csr) */
  int64_t rows, cols, entries;
  void const* offsets; /* (rows + 1) */
  void const* columns; /* (entries) */
  void const* values;  /* (entries) */
  int32_t offset_bits; /* 32 or 64 */
  int32_t column_bits; /* 32 or 64 */
  int32_t value_type;  /* TCS_F64 or TCS_F32 */
  int32_t base;        /* 0, or 1 as in Fortran */
  int32_t space;       /* TCS_HOST or TCS_CUDA */
  int32_t device;      /* ordinal, for TCS_CUDA */
} tcs_csr;

/* A by entries (i, j, value) in any order, those of one place added: as element loops leave them. A
 * number below the base leaves its entry out. 64-bit numbers, FP32 values and base 1 are taken from the
 * host, by a copy. */
typedef struct {
  uint32_t size; /* sizeof(tcs_coo) */
  int64_t rows, cols, entries;
  void const* i;       /* (entries) rows */
  void const* j;       /* (entries) columns */
  void const* values;  /* (entries) */
  int32_t index_bits;  /* of i and j: 32 or 64 */
  int32_t value_type;  /* TCS_F64 or TCS_F32 */
  int32_t base;        /* 0 or 1 */
  int32_t space;       /* TCS_HOST or TCS_CUDA */
  int32_t device;      /* ordinal, for TCS_CUDA */
} tcs_coo;

/* What is known of the unknowns besides A, in the order of its rows: multigrid goes by it where its keys
 * leave it open. Null arrays and a block of 0 tell nothing. */
typedef struct {
  uint32_t size; /* sizeof(tcs_nodes) */
  int32_t block; /* unknowns of a node, rows that follow each other; 0: found from the pattern */
  int32_t dim;   /* of the coordinates: 2 or 3 */
  int64_t nodes;
  double const* coordinates;    /* (nodes * dim), a point after the other */
  int64_t rows, vectors;
  double const* near_nullspace; /* (vectors * rows), a vector after the other: A nearly maps each to 0 */
} tcs_nodes;

/* What is asked of one solve. tcs_call_init() sets every field to "as the options say". */
typedef struct {
  uint32_t size;     /* sizeof(tcs_call) */
  double rtol, atol; /* NaN: as the options say; converged when ||b - A x|| <= max(rtol ||b||, atol) */
  int64_t max_iters; /* -1: as the options say */
  double time_limit; /* seconds; NaN: as the options say */
  int32_t transpose; /* 1: A^T x = b; b has the columns of A, x its rows */
  int32_t zero_guess; /* 1: x is written, never read */
  void* stream;       /* a cudaStream_t that the solve begins after, or NULL */
  /* Called by the thread that solves, after every `every` iterations, with the norm of the residual
   * by the method's account; 0 ends the solve as `cancelled`. */
  int32_t (*progress)(void* user, int64_t iteration, double norm);
  void* user;
  int32_t every;
} tcs_call;

/* y = A x (y = A^T x where transpose is 1), one vector each, which lie where the context computes;
 * on a device the work goes into `stream`. Returns 0, TCS_UNSUPPORTED for a product that it does
 * not offer, or another number, which ends the call as TCS_CALLBACK. */
typedef int32_t (*tcs_apply)(void* user, double const* x, double* y, int32_t transpose,
                             void* stream);
/* severity: 0 detail, 1 note, 2 warning. */
typedef void (*tcs_log)(void* user, int32_t severity, char const* text);

uint32_t tcs_version(void);          /* 10000 major + 100 minor + patch */
char const* tcs_version_text(void);  /* "0.1.0" */
int32_t tcs_has_cuda(void);          /* 1: this library was built with CUDA */
char const* tcs_last_error(void);    /* of this thread, until its next call; "" after TCS_OK */

/* options: keys backend, device, threads, seed, deterministic; NULL: their defaults. log, which may
 * be NULL, is called by the thread that is in a call. */
tcs_status tcs_context_create(tcs_context** made, char const* options, tcs_log log, void* user);
void tcs_context_free(tcs_context*);

/* Without a matrix. context NULL: one of its own, by the keys of the options. options NULL: auto. */
tcs_status tcs_solver_create(tcs_solver** made, tcs_context* context, char const* options);
void tcs_solver_free(tcs_solver*);
/* Of the matrices that are set from now on; copied. On the host. */
tcs_status tcs_solver_set_nodes(tcs_solver*, tcs_nodes const*);
/* Makes everything that solves need. borrow 1: the arrays stay as they are until the next
 * tcs_solver_set_csr() or tcs_solver_update_values(), or as long as the solver lives; 0: copied. A
 * failure leaves the solver without a matrix, unless the arrays themselves are at fault. */
tcs_status tcs_solver_set_csr(tcs_solver*, tcs_csr const* a, int32_t borrow);
/* Products by a function of the caller's. M (cols x cols), an approximation of A^-1, or for least
 * squares of (A^T A)^-1, may be NULL: then the preconditioner of the options has to be one that needs
 * no matrix, as `none`. */
tcs_status tcs_solver_set_operator(tcs_solver*, int64_t rows, int64_t cols, tcs_apply A,
                                   tcs_apply M, void* user);
/* New values on the same pattern, whose arrays are given again and not compared. */
tcs_status tcs_solver_update_values(tcs_solver*, tcs_csr const* a);
/* The same from entries, which are copied: their places are found once, and new values of all of them,
 * in the same order, are summed there. */
tcs_status tcs_solver_set_coo(tcs_solver*, tcs_coo const* a);
tcs_status tcs_solver_update_coo(tcs_solver*, double const* values, int64_t entries, int32_t space);
/* x <- an approximation of A^-1 b from the guess in x, for `columns` right-hand sides that lie `ld`
 * elements apart. call NULL: by the options. *report, which replaces what was there without freeing
 * it, is set where TCS_OK is returned, else NULL. */
tcs_status tcs_solver_solve(tcs_solver*, double const* b, double* x, int64_t columns, int64_t ld,
                            int32_t space, tcs_call const* call, tcs_report** report);
void tcs_call_init(tcs_call*);
/* Ends the call that is at work on the solver's context, else the next one; it is spent with it. */
tcs_status tcs_solver_cancel(tcs_solver*);
/* "format" that A is stored in, "setup" (JSON), "options" (JSON, with every value in force); NULL
 * for another key. Good until the next call with this solver. */
char const* tcs_solver_text(tcs_solver*, char const* key);

/* A report of several columns tells of the one that was selected, the first at first; solved is
 * about all of them. */
int32_t tcs_report_solved(tcs_report const*); /* 1: every column reached its tolerance */
int64_t tcs_report_columns(tcs_report const*);
tcs_status tcs_report_select(tcs_report*, int64_t column);
/* "iterations", "true_residual", "tolerance", "rhs_norm", "initial_residual", "best_residual",
 * "recurrence_residual", "backward_error", "rowwise_error", "attainable", "condition", "restarts",
 * "products", "applications", "inner_iterations", "seconds", "setup_seconds", "loop_seconds",
 * "exit_code", "converged", "solved"; NaN for another key, and what was never computed. */
double tcs_report_number(tcs_report const*, char const* key);
/* "outcome", "reason", "cause", "message", "json"; NULL for another key. As long as the report. */
char const* tcs_report_text(tcs_report const*, char const* key);
/* The norms after each iteration, oldest first, up to `room` of them; returns how many there are. */
int64_t tcs_report_history(tcs_report const*, int64_t* iterations, double* norms, int64_t room);
void tcs_report_free(tcs_report*);

#ifdef __cplusplus
}
#endif
#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif
