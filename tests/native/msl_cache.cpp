// The on-disk cache: damage, hostile permissions and full disks read as "not there".
#include "cache.h"

#include "msl_test.h"
#include "sealed_entry.h"
#include "temporary_folder.h"

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <csignal>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <vector>

namespace fs = std::filesystem;

static const msl::Sha256::Digest KEY = msl::Sha256::of("key");
static const std::string CONTENT(3000, 'c');

static void write_file(const std::string &path, const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

static mode_t mode_of(const std::string &path) {
    struct stat status;
    CHECK(lstat(path.c_str(), &status) == 0);
    return status.st_mode & 0777;
}

static bool finds(const std::string &folder) {
    std::string content;
    if (!msl::Cache(folder).find(KEY, content)) return false;
    CHECK(content == CONTENT);
    return true;
}

static std::string entry_of(const std::string &folder) {
    return folder + "/" + msl::hexadecimal(KEY) + ".entry";
}

// A folder with one good entry.
static std::string fresh(const std::string &parent) {
    static int count = 0;
    const std::string folder = parent + "/deep/cache" + std::to_string(count++);
    msl::Cache(folder).store(KEY, CONTENT);
    CHECK(finds(folder));
    return folder;
}

static void tells_every_damage() {
    const std::string sealed = msl::seal(CONTENT.substr(0, 100), KEY);
    std::string good = sealed;
    CHECK(msl::unseal(good, KEY) && good == CONTENT.substr(0, 100));
    for (size_t length = 0; length < sealed.size(); length++) {
        std::string cut = sealed.substr(0, length);
        CHECK(!msl::unseal(cut, KEY));
    }
    for (size_t bit = 0; bit < sealed.size() * 8; bit++) {
        std::string flipped = sealed;
        flipped[bit / 8] ^= char(1 << bit % 8);
        CHECK(!msl::unseal(flipped, KEY));
    }
    std::string longer = sealed + "x", other = sealed;
    CHECK(!msl::unseal(longer, KEY));
    CHECK(!msl::unseal(other, msl::Sha256::of("another key")));
}

static void stores_and_finds(const std::string &parent) {
    const mode_t before = umask(0);
    const std::string open_umask = fresh(parent);
    umask(0277);
    const std::string closed_umask = fresh(parent + "/closed");
    umask(before);
    for (const std::string &folder : {open_umask, closed_umask}) {
        CHECK(mode_of(folder) == 0700 && mode_of(entry_of(folder)) == 0600);
    }
    CHECK(!msl::Cache("").usable());
    std::string content;
    CHECK(!msl::Cache(open_umask).find(msl::Sha256::of("other"), content));
}

static void says_why_nothing_is_kept(const std::string &parent) {
    const std::string folder = fresh(parent);
    CHECK(msl::Cache::fault(folder).empty());
    CHECK(msl::Cache::fault(parent + "/new/folder").empty());
    chmod(folder.c_str(), 0770);
    CHECK(msl::Cache::fault(folder) == "another user owns it or may write to it");
    CHECK(msl::Cache::fault(entry_of(folder)) == strerror(ENOTDIR));
    CHECK(msl::Cache::fault(entry_of(folder) + "/below") == strerror(ENOTDIR));
    fs::create_directory_symlink(folder, parent + "/another");
    CHECK(msl::Cache::fault(parent + "/another") == strerror(ENOTDIR));
    CHECK(!msl::Cache::fault("/proc/nothing").empty());
}

static void damaged_entries_are_not_there(const std::string &parent) {
    const std::string folder = fresh(parent), entry = entry_of(folder);
    const std::string bytes = read_file(entry);
    write_file(entry, bytes.substr(0, bytes.size() / 2));
    CHECK(!finds(folder));
    write_file(entry, "");
    CHECK(!finds(folder));
    std::string flipped = bytes;
    flipped[10] ^= 1;
    write_file(entry, flipped);
    CHECK(!finds(folder));
    msl::Cache(folder).store(KEY, CONTENT);
    CHECK(finds(folder));
}

static void entries_of_others_are_not_used(const std::string &parent) {
    const std::string folder = fresh(parent), entry = entry_of(folder);
    for (const mode_t mode : {0620, 0602, 0666}) {
        chmod(entry.c_str(), mode);
        CHECK(!finds(folder));
    }
    chmod(entry.c_str(), 0600);
    CHECK(finds(folder));

    fs::create_hard_link(entry, folder + "/second name");
    CHECK(!finds(folder));
    fs::remove(folder + "/second name");
    fs::rename(entry, folder + "/moved");
    fs::create_symlink(folder + "/moved", entry);
    CHECK(!finds(folder));
    fs::remove(entry);
    CHECK(mkfifo(entry.c_str(), 0600) == 0);
    CHECK(!finds(folder));
    fs::remove(entry);
    fs::create_directory(entry);
    CHECK(!finds(folder));
    msl::Cache(folder).store(KEY, CONTENT);  // cannot be put there, and leaves nothing behind
    CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 2);
}

static void folders_of_others_are_not_used(const std::string &parent) {
    const std::string folder = fresh(parent);
    for (const mode_t mode : {0770, 0707, 0777}) {
        chmod(folder.c_str(), mode);
        CHECK(!msl::Cache(folder).usable() && !finds(folder));
    }
    chmod(folder.c_str(), 0755);
    CHECK(finds(folder));
    fs::create_symlink(folder, parent + "/link");
    CHECK(!msl::Cache(parent + "/link").usable());
    write_file(parent + "/file", "x");
    CHECK(!msl::Cache(parent + "/file").usable());
    CHECK(!msl::Cache(parent + "/file/below").usable());
    CHECK(!msl::Cache("/proc/nothing/here").usable());
    if (geteuid() != 0) return;  // only root can give files away
    CHECK(chown(entry_of(folder).c_str(), 12345, -1) == 0);
    CHECK(!finds(folder));
    CHECK(chown(folder.c_str(), 12345, -1) == 0);
    CHECK(!msl::Cache(folder).usable());
}

static void full_disks_do_no_harm(const std::string &parent) {
    const std::string folder = fresh(parent);
    // A file that cannot grow is a full disk, but for the number of the error.
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, limit = {100, RLIM_INFINITY};
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    limit.rlim_max = before.rlim_max;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    msl::Cache(folder).store(msl::Sha256::of("big"), CONTENT);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1);
    CHECK(finds(folder));
}

static void set_age(const std::string &path, time_t seconds) {
    const struct timespec at = {time(nullptr) - seconds, 0};
    const struct timespec times[] = {at, at};
    CHECK(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

static void sweeps_and_evicts(const std::string &parent) {
    const std::string folder = fresh(parent);
    write_file(folder + "/new-1-1", "abandoned");
    write_file(folder + "/new-1-2", "being written");
    write_file(folder + "/somebody's", "else's");
    set_age(folder + "/new-1-1", 4000);
    set_age(folder + "/somebody's", 1000000);
    set_age(entry_of(folder), 500);
    const msl::Cache small(folder, 2 * CONTENT.size() + 1000);
    small.store(msl::Sha256::of("second"), CONTENT);
    CHECK(!fs::exists(folder + "/new-1-1") && fs::exists(folder + "/new-1-2"));
    CHECK(finds(folder));
    small.store(msl::Sha256::of("third"), CONTENT);  // the oldest goes
    CHECK(!finds(folder));
    std::string content;
    CHECK(small.find(msl::Sha256::of("second"), content) &&
          small.find(msl::Sha256::of("third"), content));
    CHECK(fs::exists(folder + "/somebody's"));
    // A hit makes an entry young again.
    set_age(folder + "/" + msl::hexadecimal(msl::Sha256::of("second")) + ".entry", 200000);
    CHECK(small.find(msl::Sha256::of("second"), content));
    set_age(folder + "/" + msl::hexadecimal(msl::Sha256::of("third")) + ".entry", 100);
    small.store(msl::Sha256::of("fourth"), CONTENT);
    CHECK(small.find(msl::Sha256::of("second"), content));
}

// Readers see nothing or the whole, while writers come and are killed.
static void processes_share_it(const std::string &parent) {
    const std::string folder = fresh(parent);
    std::vector<pid_t> writers;
    for (int i = 0; i < 4; i++) {
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                msl::Cache(folder).store(KEY, CONTENT);
        }
        writers.push_back(child);
    }
    for (int i = 0; i < 500; i++)
        CHECK(finds(folder));
    for (const pid_t writer : writers) {
        kill(writer, SIGKILL);
        waitpid(writer, nullptr, 0);
    }
    CHECK(finds(folder));
}

int main() {
    const msl::TemporaryFolder folder;
    tells_every_damage();
    stores_and_finds(folder.path());
    says_why_nothing_is_kept(folder.path());
    damaged_entries_are_not_there(folder.path());
    entries_of_others_are_not_used(folder.path());
    folders_of_others_are_not_used(folder.path());
    full_disks_do_no_harm(folder.path());
    sweeps_and_evicts(folder.path());
    processes_share_it(folder.path());
}
