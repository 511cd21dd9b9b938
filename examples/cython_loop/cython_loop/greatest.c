#include "greatest.h"

size_t greatest(const float *numbers, size_t count) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (numbers[i] > numbers[best]) best = i;
    return best;
}
