// Block-tridiagonal systems along lines: a cube of cells, each with five unknowns a point.
//
//   bt [CLASS [ITERATIONS]]     cubes of 12, 24 or 64 points a side
//
// Each direction couples a point's five unknowns with those of the two points beside it. Its
// systems are solved by elimination of blocks of 5 x 5, which the ranks hand on from cell to cell
// (multipartition.h).
#include "multipartition.h"

enum { block = words * words };

static const double strength = 0.1;

// How unknowns couple with those of a neighbor: eigenvalues 0.5 and 1.
static double coupling(int i, int j) { return strength * (i == j ? 0.6 : 0.1); }

static void couple(const double* u, ptrdiff_t stride, double* sum) {
  double away[words];
  for (int w = 0; w < words; ++w) away[w] = 2.0 * u[w] - u[w - stride] - u[w + stride];
  for (int i = 0; i < words; ++i)
    for (int j = 0; j < words; ++j) sum[i] += coupling(i, j) * away[j];
}

// Solves diagonal * [next, right] = [next, right]. The diagonal is the largest of its row.
static void solve_block(double diagonal[words][words], double* next, double* right) {
  for (int pivot = 0; pivot < words; ++pivot) {
    const double scale = 1.0 / diagonal[pivot][pivot];
    for (int j = pivot; j < words; ++j) diagonal[pivot][j] *= scale;
    for (int j = 0; j < words; ++j) next[pivot * words + j] *= scale;
    right[pivot] *= scale;
    for (int row = 0; row < words; ++row) {
      if (row == pivot) continue;
      const double times = diagonal[row][pivot];
      for (int j = pivot; j < words; ++j) diagonal[row][j] -= times * diagonal[pivot][j];
      for (int j = 0; j < words; ++j) next[row * words + j] -= times * next[pivot * words + j];
      right[row] -= times * right[pivot];
    }
  }
}

// `carry`: the block and the right side of the point before.
static void eliminate(double* right, ptrdiff_t stride, int count, double* coefficient,
                      ptrdiff_t coefficient_stride, double* carry) {
  for (int k = 0; k < count; ++k, right += stride, coefficient += coefficient_stride) {
    double diagonal[words][words];
    for (int i = 0; i < words; ++i)
      for (int j = 0; j < words; ++j) {
        diagonal[i][j] = (i == j ? 1.0 : 0.0) + 2.0 * coupling(i, j);
        coefficient[i * words + j] = -coupling(i, j);
        right[i] += coupling(i, j) * carry[block + j];
        for (int l = 0; l < words; ++l) diagonal[i][j] += coupling(i, l) * carry[l * words + j];
      }
    solve_block(diagonal, coefficient, right);
    memcpy(carry, coefficient, block * sizeof(double));
    memcpy(carry + block, right, words * sizeof(double));
  }
}

// `carry`: the unknowns of the point behind.
static void substitute(double* right, ptrdiff_t stride, int count, const double* coefficient,
                       ptrdiff_t coefficient_stride, double* carry) {
  for (int k = count - 1; k >= 0; --k) {
    double* own = right + k * stride;
    const double* next = coefficient + k * coefficient_stride;
    for (int i = 0; i < words; ++i)
      for (int j = 0; j < words; ++j) own[i] -= next[i * words + j] * carry[j];
    memcpy(carry, own, words * sizeof(double));
  }
}

int main(int argc, char** argv) {
  // 1 - (1 + 3 x) / (1 + x)^3 for x = 4 * strength, the largest eigenvalue of a direction.
  const struct equations equations = {block,     block + words, words, 0.2,
                                      eliminate, substitute,    couple};
  return run_multipartition(argc, argv, "bt", &equations);
}
