// Embarrassingly parallel: pairs of normal random numbers, counted by how far out they lie.
//
//   ep [CLASS [ITERATIONS]]     2^14, 2^18 or 2^22 points in an iteration
//
// A point (x, y) of the square [-1, 1]^2 that lies in the unit circle at distance sqrt(t) from its
// center gives two independent normal numbers, x f and y f with f = sqrt(-2 ln t / t) (Marsaglia's
// polar method). Everything is counted in integers, so the result is the same whoever counts what.
// What was counted in one iteration is added up (MPI_Iallreduce) while the next one is computed.
// A lost rank's points are not counted any more; the rest is as random as before, and verified.
#include <math.h>

#include "kernel.h"

enum { rings = 8 };
// Points drawn and accepted, sums of x f and y f in fixed point, then the points by ring.
enum { drawn, accepted, sum_x, sum_y, first_ring, fields = first_ring + rings };

static const double unit = 0x1p20;  // of fixed point

static void count_points(int64_t* count, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; ++i) {
    const double x = 2.0 * kernel_uniform(2 * i) - 1.0;
    const double y = 2.0 * kernel_uniform(2 * i + 1) - 1.0;
    const double t = x * x + y * y;
    ++count[drawn];
    if (t > 1.0 || t == 0.0) continue;
    const double f = sqrt(-2.0 * log(t) / t);
    const double far = fmax(fabs(x * f), fabs(y * f));
    ++count[accepted];
    count[sum_x] += llround(x * f * unit);
    count[sum_y] += llround(y * f * unit);
    ++count[first_ring + (far < rings ? (int)far : rings - 1)];
  }
}

// Whether `seen` of `tries` is what a probability lets expect: within 6 standard deviations.
static int is_likely(double seen, double tries, double probability) {
  const double deviation = sqrt(tries * probability * (1.0 - probability)) + 1.0;
  return fabs(seen - tries * probability) < 6.0 * deviation;
}

static int verify(const int64_t* total) {
  const double points = (double)total[accepted];
  int is_right = total[drawn] > 0 && is_likely(points, (double)total[drawn], acos(-1.0) / 4.0);
  int64_t sum = 0;
  for (int ring = 0; ring < rings; ++ring) {
    // Both numbers of a pair are below r with probability erf(r / sqrt 2)^2.
    const double within = pow(erf((ring + 1) / sqrt(2.0)), 2.0);
    const double inner = pow(erf(ring / sqrt(2.0)), 2.0);
    const double probability = (ring + 1 < rings ? within : 1.0) - inner;
    is_right = is_right && is_likely((double)total[first_ring + ring], points, probability);
    sum += total[first_ring + ring];
  }
  const double far = 6.0 * sqrt(points) + 1.0;
  return is_right && sum == total[accepted] && fabs((double)total[sum_x]) < far * unit &&
         fabs((double)total[sum_y]) < far * unit;
}

int main(int argc, char** argv) {
  const struct kernel kernel = kernel_begin(argc, argv, "ep", 10);
  const int points = 1 << (14 + 4 * kernel.class_number);
  const int begin = kernel_begin_of(kernel.rank, kernel.size, points);
  const int end = kernel_begin_of(kernel.rank + 1, kernel.size, points);
  int64_t total[fields] = {0};
  int64_t mine[2][fields];
  int64_t all[2][fields];
  MPI_Request request = MPI_REQUEST_NULL;
  for (int i = 0; i <= kernel.iterations; ++i) {
    const int now = i % 2;
    memset(mine[now], 0, sizeof mine[now]);
    const uint64_t offset = (uint64_t)i * (uint64_t)points;
    if (i < kernel.iterations)
      count_points(mine[now], offset + (uint64_t)begin, offset + (uint64_t)end);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int field = 0; i > 0 && field < fields; ++field) total[field] += all[1 - now][field];
    if (i < kernel.iterations)
      MPI_Iallreduce(mine[now], all[now], fields, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request);
  }
  uint64_t digest = 0;
  for (int field = 0; field < fields && kernel.rank == 0; ++field)
    digest += kernel_digest((uint64_t)field, (uint64_t)total[field]);
  return kernel_end(&kernel, (double)total[accepted], digest, verify(total));
}
