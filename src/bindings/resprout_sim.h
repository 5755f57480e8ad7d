// The protocols and their simulations for other languages: a plain C interface
// (libresprout_sim.so).
//
// It needs nothing of the other language to be built, so that one library serves every Python
// (docs/explanation/adr/004); python/resprout/native.py speaks it. Times are in ticks of the LogP
// model. What does not apply or never happened is RESPROUT_NONE. A function that refuses says so by
// its result, and resprout_refusal() has one line that says what was given and what is valid.
// Thread rule: all functions from any thread; a simulation serves one thread at a time, others
// wait.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RESPROUT_API __attribute__((visibility("default")))
#define RESPROUT_NONE (-1)

// Why this thread's last call refused. Valid until its next refusal.
RESPROUT_API const char* resprout_refusal(void);

// --- protocols
// ------------------------------------------------------------------------------------

typedef struct {
  const char* name;
  const char* values;  // words with | between them, or LOWEST..HIGHEST
  const char* fallback;
  const char* help;
} resprout_option;

typedef struct {
  const char* name;
  const char* operation;  // broadcast, allreduce, reduce, view, revocation
  const char* summary;
  const resprout_option* options;
  size_t option_count;
} resprout_protocol;

// All there are; they live as long as the library.
RESPROUT_API const resprout_protocol* resprout_protocols(size_t* count);

// 0, or 1: refused.
RESPROUT_API int resprout_check_spec(const char* spec);

// --- simulations
// ----------------------------------------------------------------------------------

typedef struct {
  int64_t procs;
  int64_t latency;   // L
  int64_t overhead;  // o
  int64_t gap;       // g
  int64_t root;
  int64_t wants_trace;     // 0, 1
  int64_t wants_digest;    // 0, 1; without digest and trace many runs cost less:
                           // docs/explanation/exact.md
  const char* late;        // none | uniform:S | normal:S: who enters when, with in-band detection
  const char* initiators;  // root | none | RANK[@T],...: who revokes when, of revoke
  const char* noise;       // none | MEAN: what a receive takes longer by chance, in ticks
} resprout_machine;

// What was measured in one run.
typedef struct {
  int64_t coloring_latency;  // broadcasts, revocations
  int64_t quiescence_latency;
  int64_t correction_start;
  int64_t messages;
  int64_t g_max;               // broadcasts
  int64_t uncolored;           // live processes without the broadcast, that did not return, or
                               // that have not heard of the revocation
  int64_t contributors;        // reductions; none: no live process has a result
  int64_t completion_latency;  // reductions: the last live process returns; revoke's plans: the
                               // most that a process spent in the operation
  // In-band detection; the first of them revoke's plans, too:
  int64_t output_spread;     // between the first and the last live process's end
  int64_t longest_queue;     // of messages that had arrived, at a live process
  int64_t keepalives;        // among the messages
  int64_t false_suspicions;  // somebody was suspected who still ran
  uint64_t trace_digest;     // 0 if it was not wanted
} resprout_run;

typedef struct resprout_simulation resprout_simulation;

// Whether such a simulation can be made and run, without the memory that it would take. 0, or 1:
// refused.
RESPROUT_API int resprout_check_simulation(const char* spec, const resprout_machine* machine,
                                           const char* faults, const char* const* fail_at,
                                           size_t fail_at_count);

// Whether runs of such a simulation are computed, at a cost that follows the number of faults, and
// not simulated message by message. 1, 0, or -1: refused.
RESPROUT_API int resprout_is_computed(const char* spec, const resprout_machine* machine,
                                      const char* const* fail_at, size_t fail_at_count);

// NULL: refused.
RESPROUT_API resprout_simulation* resprout_simulation_new(const char* spec,
                                                          const resprout_machine* machine);
RESPROUT_API void resprout_simulation_free(resprout_simulation* simulation);

// One run. `faults`: none | N | X% | N+M@T | 3,7,9; `fail_at`: `fail_at_count` texts RANK@T. 0, or
// 1: refused.
RESPROUT_API int resprout_simulation_run(resprout_simulation* simulation, const char* faults,
                                         const char* const* fail_at, size_t fail_at_count,
                                         uint64_t seed, resprout_run* run);

// `count` runs, one after the other; run i has the seed `first_seed` + i and fills runs[i]. 0, or
// 1: refused. A trace is that of the last run.
RESPROUT_API int resprout_simulation_run_many(resprout_simulation* simulation, const char* faults,
                                              const char* const* fail_at, size_t fail_at_count,
                                              uint64_t first_seed, size_t count,
                                              resprout_run* runs);

typedef struct {
  int64_t from;
  int64_t to;
  const char* kind;
  int64_t sent;      // start of the send
  int64_t arrived;   // at the receiver's port
  int64_t received;  // end of the receive; none: the receiver was dead by then
} resprout_traced_message;

typedef struct {
  int64_t at;
  int64_t rank;
  const char* kind;
} resprout_traced_event;

typedef struct {
  int64_t at;
  int64_t rank;
} resprout_traced_death;

// Of the last run of a simulation that wants a trace; valid until its next one.
RESPROUT_API const resprout_traced_message* resprout_simulation_messages(
    const resprout_simulation* simulation, size_t* count);
RESPROUT_API const resprout_traced_event* resprout_simulation_events(
    const resprout_simulation* simulation, size_t* count);
// Those that were asked for, drawn ones included, whether or not the operation lasted that long.
RESPROUT_API const resprout_traced_death* resprout_simulation_deaths(
    const resprout_simulation* simulation, size_t* count);

// --- the order of a job's hosts ------------------------------------------------------------------

// What the ranks are given of a file that orders hosts (runtime/net/order.hpp), with a zero byte
// behind it; valid until this thread asks again. NULL: refused.
RESPROUT_API const char* resprout_order_of_hosts(const char* text, size_t bytes);

// --- the experiments of Scalable Membership
// -------------------------------------------------------

#define RESPROUT_NETWORK_UNIFORM 0
#define RESPROUT_NETWORK_TORUS 1
#define RESPROUT_NETWORK_ETHERNET 2

// Nanoseconds; sim/membership/stabilization.hpp says what they mean.
typedef struct {
  int64_t procs;
  int64_t radix;
  int64_t victim;
  int64_t network;
  int64_t latency;
  int64_t processing;
  int64_t service;
  int64_t talkers;
  int64_t overhead;
} resprout_stabilization_scene;

typedef struct {
  int64_t stabilized;
  int64_t installed;
  int64_t messages;
} resprout_stabilized;

// 0, or 1: refused.
RESPROUT_API int resprout_stabilize(const resprout_stabilization_scene* scene,
                                    resprout_stabilized* found);

// Nanoseconds; -1: refused.
RESPROUT_API int64_t resprout_contention_latency(int64_t nodes, int64_t children, int64_t latency,
                                                 int64_t service);

#ifdef __cplusplus
}
#endif
