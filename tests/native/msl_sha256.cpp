// SHA-256 against the vectors of FIPS 180-4.
#include "sha256.h"

#include "msl_test.h"

static std::string digest(std::string_view text) {
    return msl::hexadecimal(msl::Sha256::of(text));
}

int main() {
    CHECK_TEXT(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK_TEXT(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK_TEXT(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK_TEXT(digest(std::string(1000000, 'a')),
               "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");

    // However the text is cut, and around the ends of blocks.
    for (size_t size = 0; size < 200; size++) {
        const std::string text(size, 'x');
        for (size_t cut = 0; cut <= size; cut += 13) {
            msl::Sha256 hash;
            hash.add(std::string_view(text).substr(0, cut));
            hash.add(std::string_view(text).substr(cut));
            CHECK(hash.finish() == msl::Sha256::of(text));
        }
    }

    // Fields do not run into each other.
    CHECK(msl::Sha256().add_field("ab").add_field("c").finish() !=
          msl::Sha256().add_field("a").add_field("bc").finish());
}
