// Fourier transform: a wave on a square, moved on in time where that is a multiplication.
//
//   ft [CLASS [ITERATIONS]]     64, 256 or 1024 points a side; ranks divide that
//
// The free Schroedinger equation, periodic: every wave number turns by its own phase. The transform
// of the square is the transform of its rows, then of its columns; rows are on one rank each, so
// columns become rows by an exchange of blocks: MPI_Alltoall with a derived datatype, which picks a
// block out of rows. At the end time runs back, and the wave has to be what it was; on the way its
// norm must not change.
#include <complex.h>
#include <math.h>

#include "kernel.h"

typedef double complex number;

struct square {
  int side;
  int rows;  // of this rank; the first one is `first`
  int first;
  MPI_Datatype block;  // `rows` columns of all rows; one after the other, as MPI_Alltoall counts
};

static MPI_Datatype make_block_type(int rows, int side) {
  MPI_Datatype columns;
  MPI_Datatype block;
  MPI_Type_vector(rows, rows, side, MPI_C_DOUBLE_COMPLEX, &columns);
  MPI_Type_create_resized(columns, 0, (MPI_Aint)((size_t)rows * sizeof(number)), &block);
  MPI_Type_commit(&block);
  MPI_Type_free(&columns);
  return block;
}

// In place, by decimation in time. `side` is a power of two; sign is -1 or, backwards, +1.
static void transform_row(number* row, int side, int sign) {
  for (int i = 1, j = 0; i < side; ++i) {
    int bit = side >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j |= bit;
    if (i < j) {
      const number swap = row[i];
      row[i] = row[j];
      row[j] = swap;
    }
  }
  for (int half = 1; half < side; half *= 2) {
    for (int k = 0; k < half; ++k) {
      const number turn = cexp(I * (sign * acos(-1.0) * k / half));
      for (int i = k; i < side; i += 2 * half) {
        const number odd = turn * row[i + half];
        row[i + half] = row[i] - odd;
        row[i] += odd;
      }
    }
  }
}

// Rows become columns: block q of this rank's rows goes to rank q, and each block is turned there.
static void transpose(const struct square* square, number* from, number* to) {
  MPI_Alltoall(from, 1, square->block, to, 1, square->block, MPI_COMM_WORLD);
  const int rows = square->rows;
  for (int left = 0; left < square->side; left += rows) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < i; ++j) {
        number* upper = &to[(size_t)i * (size_t)square->side + (size_t)(left + j)];
        number* lower = &to[(size_t)j * (size_t)square->side + (size_t)(left + i)];
        const number swap = *upper;
        *upper = *lower;
        *lower = swap;
      }
    }
  }
}

// `wave` becomes its transform, transposed, scaled so that its norm stays. `other`: as much memory.
static void transform(const struct square* square, number** wave, number** other, int sign) {
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < square->rows; ++i) {
      number* row = *wave + (size_t)i * (size_t)square->side;
      transform_row(row, square->side, sign);
      for (int j = 0; j < square->side; ++j) row[j] /= sqrt(square->side);
    }
    if (pass > 0) break;
    transpose(square, *wave, *other);
    number* swap = *wave;
    *wave = *other;
    *other = swap;
  }
}

// From -side/2 to side/2.
static int wave_number(int index, int side) { return index < side / 2 ? index : index - side; }

static void advance(const struct square* square, number* spectrum, double time) {
  for (int i = 0; i < square->rows; ++i) {
    for (int j = 0; j < square->side; ++j) {
      const double a = wave_number(square->first + i, square->side);
      const double b = wave_number(j, square->side);
      spectrum[(size_t)i * (size_t)square->side + (size_t)j] *= cexp(-I * (a * a + b * b) * time);
    }
  }
}

static double norm_of(const struct square* square, const number* wave) {
  double sum = 0.0;
  for (size_t i = 0; i < (size_t)square->rows * (size_t)square->side; ++i)
    sum += creal(wave[i] * conj(wave[i]));
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sqrt(sum) / square->side;
}

static number initial(const struct square* square, size_t i) {
  const uint64_t index = (uint64_t)square->first * (uint64_t)square->side + i;
  return kernel_uniform(2 * index) - 0.5 + I * (kernel_uniform(2 * index + 1) - 0.5);
}

int main(int argc, char** argv) {
  const struct kernel kernel = kernel_begin(argc, argv, "ft", 6);
  struct square square = {64 << (2 * kernel.class_number), 0, 0, MPI_DATATYPE_NULL};
  if (square.side % kernel.size != 0)
    kernel_refuse(&kernel,
                  "the number of ranks has to divide the side: 64 of class S, 256 of W, "
                  "1024 of A");
  square.rows = square.side / kernel.size;
  square.first = kernel.rank * square.rows;
  square.block = make_block_type(square.rows, square.side);
  const size_t points = (size_t)square.rows * (size_t)square.side;
  number* wave = kernel_memory(points, sizeof *wave);
  number* other = kernel_memory(points, sizeof *other);
  for (size_t i = 0; i < points; ++i) wave[i] = initial(&square, i);
  const double norm = norm_of(&square, wave);
  const double time = 0.001;
  uint64_t digest = 0;
  int is_right = 1;
  for (int i = 0; i < kernel.iterations; ++i) {
    // There and back transpose twice, so that the wave lies as it lay.
    transform(&square, &wave, &other, -1);
    advance(&square, wave, time);
    transform(&square, &wave, &other, +1);
    const double now = norm_of(&square, wave);
    is_right = is_right && fabs(now / norm - 1.0) < 1e-12 * (i + 1);
  }
  for (size_t i = 0; i < points; ++i) {
    const uint64_t index = (uint64_t)square.first * (uint64_t)square.side + i;
    uint64_t bits[2];
    memcpy(bits, &wave[i], sizeof bits);
    digest += kernel_digest(2 * index, bits[0]) + kernel_digest(2 * index + 1, bits[1]);
  }
  transform(&square, &wave, &other, -1);
  advance(&square, wave, -time * kernel.iterations);
  transform(&square, &wave, &other, +1);
  double worst = 0.0;
  for (size_t i = 0; i < points; ++i) worst = fmax(worst, cabs(wave[i] - initial(&square, i)));
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  // A wave number's phase is known to about its own size times the precision of numbers.
  is_right = is_right && worst < 1e-13 * square.side * (kernel.iterations + 1);
  MPI_Type_free(&square.block);
  free(wave);
  free(other);
  return kernel_end(&kernel, worst, digest, is_right);
}
