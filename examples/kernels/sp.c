// Pentadiagonal systems along lines: a cube of cells, each with five unknowns a point.
//
//   sp [CLASS [ITERATIONS]]     cubes of 12, 24 or 64 points a side
//
// Each direction couples an unknown with those of the two points on either side. Its systems are
// solved by scalar elimination, which the ranks hand on from cell to cell (multipartition.h).
#include "multipartition.h"

enum { previous = 2 + words };  // two coefficients and the right side of a point

static const double strength = 0.1;    // of second differences
static const double smoothing = 0.01;  // of fourth ones

static void couple(const double* u, ptrdiff_t stride, double* sum) {
  for (int w = 0; w < words; ++w) {
    const double beside = u[w - stride] + u[w + stride];
    const double beyond = u[w - 2 * stride] + u[w + 2 * stride];
    sum[w] += strength * (2.0 * u[w] - beside) + smoothing * (6.0 * u[w] - 4.0 * beside + beyond);
  }
}

// `carry`: of the point before the last one, then of the last one.
static void eliminate(double* right, ptrdiff_t stride, int count, double* coefficient,
                      ptrdiff_t coefficient_stride, double* carry) {
  const double far = smoothing;
  const double near = -strength - 4.0 * smoothing;
  const double middle = 1.0 + 2.0 * strength + 6.0 * smoothing;
  for (int k = 0; k < count; ++k, right += stride, coefficient += coefficient_stride) {
    double* second = carry;
    double* first = carry + previous;
    const double lower = near - far * second[0];
    const double scale = 1.0 / (middle - far * second[1] - lower * first[0]);
    coefficient[0] = (near - lower * first[1]) * scale;
    coefficient[1] = far * scale;
    for (int w = 0; w < words; ++w)
      right[w] = (right[w] - far * second[2 + w] - lower * first[2 + w]) * scale;
    memcpy(second, first, previous * sizeof(double));
    memcpy(first, coefficient, 2 * sizeof(double));
    memcpy(first + 2, right, words * sizeof(double));
  }
}

// `carry`: the unknowns of the point behind, then of the one behind that.
static void substitute(double* right, ptrdiff_t stride, int count, const double* coefficient,
                       ptrdiff_t coefficient_stride, double* carry) {
  for (int k = count - 1; k >= 0; --k) {
    double* own = right + k * stride;
    const double* of_point = coefficient + k * coefficient_stride;
    for (int w = 0; w < words; ++w)
      own[w] -= of_point[0] * carry[w] + of_point[1] * carry[words + w];
    memcpy(carry + words, carry, words * sizeof(double));
    memcpy(carry, own, words * sizeof(double));
  }
}

int main(int argc, char** argv) {
  // 1 - (1 + 3 x) / (1 + x)^3 for x = 4 strength + 16 smoothing, the largest eigenvalue of one.
  const struct equations equations = {2,         2 * previous, 2 * words, 0.3,
                                      eliminate, substitute,   couple};
  return run_multipartition(argc, argv, "sp", &equations);
}
