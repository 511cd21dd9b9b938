// Which elements of a cooperative tensor each thread holds. A layout says it by two numbers, the
// thread's and the slot's; a slot that stands for no element is not valid, and a thread that does
// not hold what belongs to an element of a matrix has it in slot -1.
#pragma once

namespace __msl {

// A matrix, row after row, cut into one run for each thread.
template <int COLUMNS, int ROWS, int THREADS> struct matrix_layout {
    using matrix = matrix_layout;
    static constexpr size_t rank = 2;
    static constexpr int columns = COLUMNS, rows = ROWS, threads = THREADS;
    static constexpr int elements = COLUMNS * ROWS;
    static constexpr int capacity = (elements + THREADS - 1) / THREADS;

    static constexpr bool valid(int thread, int slot) {
        return thread * capacity + slot < elements;
    }
    static constexpr metal::array<int, 2> position(int thread, int slot) {
        const int element = thread * capacity + slot;
        return {{element % COLUMNS, element / COLUMNS}};
    }
    static constexpr int slot(int thread, const metal::array<int, 2> &position) {
        const int slot = position[1] * COLUMNS + position[0] - thread * capacity;
        const bool inside = position[0] < COLUMNS && position[1] < ROWS;
        return inside && slot >= 0 && slot < capacity ? slot : -1;
    }
};

// One value for each row: a thread holds those of all rows that its elements of the matrix lie in.
template <class Matrix> struct row_layout {
    using matrix = Matrix;
    static constexpr size_t rank = 1;
    static constexpr int threads = Matrix::threads;

    static constexpr int first(int thread) { return thread * Matrix::capacity / Matrix::columns; }
    static constexpr int end(int thread) {
        const int elements = metal::min((thread + 1) * Matrix::capacity, Matrix::elements);
        return (elements + Matrix::columns - 1) / Matrix::columns;
    }
    static constexpr int most() {
        int most = 0;
        for (int thread = 0; thread < threads; thread++)
            most = metal::max(most, end(thread) - first(thread));
        return most;
    }
    static constexpr int capacity = most();

    static constexpr bool valid(int thread, int slot) { return first(thread) + slot < end(thread); }
    static constexpr metal::array<int, 1> position(int thread, int slot) {
        return {{first(thread) + slot}};
    }
    static constexpr int slot(int thread, const metal::array<int, 2> &element) {
        const int slot = element[1] - first(thread);
        return slot >= 0 && valid(thread, slot) ? slot : -1;
    }
};

// One value for each column.
template <class Matrix> struct column_layout {
    using matrix = Matrix;
    static constexpr size_t rank = 1;
    static constexpr int threads = Matrix::threads;
    static constexpr int capacity = metal::min(Matrix::capacity, Matrix::columns);

    static constexpr int first(int thread) { return thread * Matrix::capacity % Matrix::columns; }
    static constexpr bool valid(int thread, int slot) {
        return slot < capacity && Matrix::valid(thread, slot);
    }
    static constexpr metal::array<int, 1> position(int thread, int slot) {
        return {{(first(thread) + slot) % Matrix::columns}};
    }
    static constexpr int slot(int thread, const metal::array<int, 2> &element) {
        const int slot = (element[0] - first(thread) + Matrix::columns) % Matrix::columns;
        return element[0] < Matrix::columns && valid(thread, slot) ? slot : -1;
    }
};

}  // namespace __msl
