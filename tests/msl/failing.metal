// Shows that a check that does not hold is seen.
kernel void failing(CHECKED) {
    CHECK(true);
    CHECK(1 + 1 == 3);
}
