// Columns of a line that the compiler read, found again in the line that the user wrote.
#include "columns.h"

#include "msl_test.h"

// Where `mark` of the compiled line stands in the source line, from 0.
static size_t moved(std::string_view compiled, std::string_view source, std::string_view mark) {
    return msl::Columns(compiled, source).of(compiled.find(mark) + 1) - 1;
}

int main() {
    const std::string_view same = "x[i] = foo + 1;";
    for (size_t k = 1; k <= same.size() + 1; k++)
        CHECK(msl::Columns(same, same).of(k) == k);

    // Blanks and comments that the preprocessor took away.
    const std::string_view spaced = "  a  =   /* b */ bad  +  c;";
    CHECK(moved("  a = bad + c;", spaced, "bad") == spaced.find("bad"));
    CHECK(moved("  a = bad + c;", spaced, "ad") == spaced.find("ad"));
    CHECK(moved("  a = bad + c;", spaced, "c") == spaced.find("c;"));

    // A macro's expansion is where the macro was called; what follows it keeps its place.
    const std::string_view called = "x = TWICE(y) + bad;";
    CHECK(moved("x = (2 * (y)) + bad;", called, "bad") == called.find("bad"));
    CHECK(moved("x = (2 * (y)) + bad;", called, "2") == called.find("TWICE"));

    // Rewritten words.
    const std::string_view literal = "f(1.0, 2.5h, bad);";
    CHECK(moved("f(1.0f, ((half)2.5f), bad);", literal, "bad") == literal.find("bad"));
    CHECK(moved("f(1.0f, ((half)2.5f), bad);", literal, "1.0f") == literal.find("1.0"));

    CHECK(msl::Columns("a = b + c", "a = c").finds(9));
    CHECK(!msl::Columns("a = b + c", "a = c").finds(5));

    // Behind the end, and with nothing to compare.
    CHECK(msl::Columns("a = b", "a  =  b").of(6) == 8);
    CHECK(msl::Columns("a = b", "").of(4) == 1);
    CHECK(msl::Columns("", "a = b").of(3) == 3);
    const std::string long_line(20000, '+');
    CHECK(msl::Columns("f(b, " + long_line, "f(a,  " + long_line).of(5000) == 5001);
}
