"""Texts with one mistake, or cut off: each is told at a place in the text, in the user's words."""

import concurrent.futures
import os
import random
import re

import pytest
from small_kernels import HEADER

import flashmetal as fm

pytestmark = pytest.mark.slow

KERNELS = {
    "scale": """
struct Shape {
    uint rows, width;
};
constant float LIMITS[2] = {0.5f, 2.0f};
inline float clipped(float x, constant float *limits) {
    return clamp(x, limits[0], limits[1]);
}
kernel void scale(device float *out [[buffer(0)]], constant Shape &shape [[buffer(1)]],
                  uint2 at [[thread_position_in_grid]]) {
    if (at.x >= shape.width || at.y >= shape.rows) return;
    const uint i = at.y * shape.width + at.x;
    out[i] = clipped(out[i] * 2.0f, LIMITS);
}
""",
    "sums": """
template <typename T, int N> T total(threadgroup const T *values) {
    T sum = T(0);
    for (int i = 0; i < N; i++) {
        sum += values[i];
    }
    return sum;
}
kernel void sums(device const half4 *in [[buffer(0)]], device float *out [[buffer(1)]],
                 uint i [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float partial[4];
    float4 x = float4(in[i]);
    float sum = simd_sum(dot(x.xyz, float3(1.0f)) + x.w);
    if (lane == 0) partial[i / 32] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = total<float, 4>(partial);
}
""",
    "counts": """
enum class Kind : uint { even, odd };
struct Counter {
    device atomic_uint *cells;
    void add(Kind kind, uint n) const {
        atomic_fetch_add_explicit(&cells[uint(kind)], n, memory_order_relaxed);
    }
};
kernel void counts(device atomic_uint *cells [[buffer(0)]], device const int *in [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
    Counter counter = {cells};
    switch (in[i] % 2) {
    case 0: counter.add(Kind::even, popcount(uint(in[i]))); break;
    default: counter.add(Kind::odd, 1u); break;
    }
}
""",
}
# What may be cut in two, beside what the kernels have.
CUT = """
#define ADD(a, b) ((a) + \\
                   (b))
/* a comment
   of two lines */
constant char words[] = "some \\"words\\"";  // and a remark
struct Pair { int first, second; };
[[host_name("cut"), max_total_threads_per_threadgroup(64)]] kernel void other(
    device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
#if __METAL_VERSION__ > 200
    out[i] = ADD(out[i], 'a') + float(words[i]);
#endif
}
"""
SEED = 20240229
MUTATIONS = 36  # of each kernel
STEP = 19  # characters from one cut to the next

TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|::|->|&&|\|\||[-+*/%<>=!]=|\+\+|[^\s\w]")
BRACKETS = "()[]{}"
INTERNAL = re.compile(
    r"__msl|_msl_|\bmsl_|lambda at|_Float16|thread_local|address_space\(|<prelude>|<kernels>"
    r"|<instances>|\.h\b|converted<"
)
PLACE = re.compile(r"program_source:(\d+):(\d+): (?:fatal error|error|warning|note): \S")


def mutate(chance, name, text):
    """Return the text with one mistake, and what was done to it."""
    tokens = list(TOKEN.finditer(text))
    head = text.index(f"kernel void {name}")
    free = [t for t in tokens if not head <= t.start() < head + len(f"kernel void {name}")]
    token = chance.choice(free)
    word = token.group()
    if word in BRACKETS:
        new = chance.choice(["", *BRACKETS])
    elif word[0].isalpha() and len(word) > 2:
        new = chance.choice(["", f"{word[:-1]}q{word[-1]}", f"{word} {word}", "missing_t", "{"])
    else:
        new = chance.choice(["", f"{word} {word}", "@", ")", "missing"])
    what = f"{name}: {word!r} at {token.start()} became {new!r}"
    return text[: token.start()] + new + text[token.end() :], what


def complaints(source, message):
    """Return what is wrong with the message about a text, if anything."""
    lines = source.split("\n")
    said = message.rstrip("\n").split("\n")
    if INTERNAL.search(message):
        yield "shows a name of ours"
    places = [k for k, line in enumerate(said) if PLACE.match(line)]
    if not places or places[0] != 0:
        yield "has no place"
    for k in places:
        number, column = map(int, PLACE.match(said[k]).groups())
        if not 1 <= number <= len(lines):
            yield f"line {number} is not in the text"
        elif lines[number - 1].strip() and said[k + 1 : k + 2] != [lines[number - 1]]:
            yield f"does not quote line {number}"
        elif lines[number - 1].strip() and said[k + 2 : k + 3] and "^" not in said[k + 2]:
            yield f"has no caret under line {number}"
        elif column > len(lines[number - 1]) + 1:
            yield f"column {column} is not in line {number}"


def outcome(device, name, source):
    """Return the message that refuses the text, or None where it compiles."""
    registry = fm.KernelRegistry(device)
    registry.register_source(name, source)
    try:
        registry.get_pipeline(name)
    except fm.errors.ShaderCompilationError as error:
        return error.message
    return None


def outcomes(device, name, sources):
    """Return the messages about the texts."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda source: outcome(device, name, source), sources))


@pytest.mark.parametrize("name", KERNELS)
def test_a_mistake_is_told_at_its_place(host, device, name):
    assert outcome(device, name, HEADER + KERNELS[name]) is None
    chance = random.Random(f"{SEED} {name}")
    texts = [mutate(chance, name, HEADER + KERNELS[name]) for _ in range(MUTATIONS)]
    messages = outcomes(device, name, [source for source, _ in texts])
    found = [
        f"{what}: {complaint}\n{message}"
        for (source, what), message in zip(texts, messages, strict=True)
        if message is not None
        for complaint in complaints(source, message)
    ]
    assert not found, "\n".join(found)
    # Some changes mend themselves: a word twice where one will do.
    assert sum(message is not None for message in messages) > MUTATIONS * 0.7


# A text may end behind a declaration, in a remark, or in a macro that nobody uses.
WHOLE = re.compile(r"[;}]\s*(//.*)?$|\A\s*$")


def is_whole(source):
    """Whether the text has no declaration that only begins."""
    text = re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)
    text = re.sub(r"^#.*?(?<!\\)$", "", text, flags=re.DOTALL | re.MULTILINE).rstrip()
    return text.count("{") == text.count("}") and "/*" not in text and bool(WHOLE.search(text))


@pytest.mark.parametrize("name", [*KERNELS, "cut"])
def test_the_end_of_a_text_that_is_cut_off_is_told(host, device, name):
    text = HEADER + KERNELS.get(name, CUT)
    assert outcome(device, name, text) is None
    cuts = range(len(HEADER) + 1, len(text), STEP)
    texts = [text[:cut] for cut in cuts if not is_whole(text[:cut])]
    assert len(texts) > len(cuts) / 2
    found = [
        f"{source[-60:]!r}: {complaint}\n{message}"
        for source, message in zip(texts, outcomes(device, name, texts), strict=True)
        for complaint in complaints(source, message or "compiles\n")
    ]
    assert not found, "\n".join(found)
