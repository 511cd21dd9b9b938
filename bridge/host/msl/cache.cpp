#include "cache.h"

#include "sealed_entry.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <vector>

namespace msl {
namespace {

constexpr const char *SUFFIX = ".entry";
constexpr const char *TEMPORARY = "new-";   // prefix of a file that is being written
constexpr time_t ABANDONED = 3600;          // seconds after which its writer is dead
constexpr time_t FRESH = 24 * 3600;         // seconds between notes that an entry is in use
constexpr off_t LARGEST = off_t(64) << 20;  // bytes of an entry

// Nobody else may own it or write to it.
bool is_private(const struct stat &status) {
    return status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// For this user alone, whatever the umask.
void make_folder(const std::string &path) {
    if (mkdir(path.c_str(), S_IRWXU) == 0) chmod(path.c_str(), S_IRWXU);
}

void make_folder_and_parents(const std::string &path) {
    for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
        make_folder(path.substr(0, end));
    }
    make_folder(path);
}

FileDescriptor open_folder(const std::string &path) {
    if (path.empty()) return FileDescriptor();
    make_folder_and_parents(path);
    FileDescriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    if (folder && fstat(folder.get(), &status) == 0 && is_private(status)) return folder;
    return FileDescriptor();
}

// Of a folder that open_folder has not taken.
std::string problem_of(const std::string &path) {
    struct stat status;
    if (lstat(path.c_str(), &status) != 0) return std::strerror(errno);
    if (!S_ISDIR(status.st_mode)) return std::strerror(ENOTDIR);
    return is_private(status) ? std::strerror(errno) : "another user owns it or may write to it";
}

std::string entry_name(const Sha256::Digest &key) {
    return hexadecimal(key) + SUFFIX;
}

bool ends_with(const std::string &text, const std::string &end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

struct Entry {
    std::string name;
    uint64_t size;
    time_t used;
};

std::vector<Entry> list(int folder) {
    std::vector<Entry> entries;
    DIR *stream = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!stream) return entries;
    while (const dirent *item = readdir(stream)) {
        struct stat status;
        if (fstatat(folder, item->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
            entries.push_back({item->d_name, uint64_t(status.st_size), status.st_mtime});
        }
    }
    closedir(stream);
    return entries;
}

// Entries that are in use stay longest; a note a day is enough for that.
void note_use(const FileDescriptor &file, const struct stat &status) {
    if (time(nullptr) - status.st_mtime > FRESH) futimens(file.get(), nullptr);
}

}  // namespace

Cache::Cache(const std::string &folder, uint64_t limit)
    : folder_(open_folder(folder)), limit_(limit) {}

std::string Cache::fault(const std::string &folder) {
    const FileDescriptor opened = open_folder(folder);
    if (!opened) return problem_of(folder);
    return faccessat(opened.get(), ".", W_OK, AT_EACCESS) == 0 ? "" : std::strerror(errno);
}

bool Cache::find(const Sha256::Digest &key, std::string &content) const {
    if (!usable()) return false;
    // Without O_NONBLOCK a pipe put in its place would stop us here.
    const FileDescriptor file(openat(folder_.get(), entry_name(key).c_str(),
                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status;
    if (!file || fstat(file.get(), &status) != 0) return false;
    if (!S_ISREG(status.st_mode) || !is_private(status) || status.st_nlink > 1) return false;
    if (status.st_size > LARGEST || !file.read_all(content)) return false;
    if (!unseal(content, key)) return false;
    note_use(file, status);
    return true;
}

void Cache::store(const Sha256::Digest &key, const std::string &content) const {
    if (!usable()) return;
    write_entry(entry_name(key), seal(content, key));
    evict();
}

// Readers see the old entry or the whole new one.
void Cache::write_entry(const std::string &name, const std::string &bytes) const {
    static std::atomic<unsigned> count{0};
    const std::string fresh = TEMPORARY + std::to_string(getpid()) + "-" + std::to_string(++count);
    bool complete = false;
    {
        const FileDescriptor file(openat(folder_.get(), fresh.c_str(),
                                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                         S_IRUSR | S_IWUSR));
        if (!file) return;
        complete = fchmod(file.get(), S_IRUSR | S_IWUSR) == 0 && file.write_all(bytes) &&
                   fsync(file.get()) == 0;
    }
    if (!complete || renameat(folder_.get(), fresh.c_str(), folder_.get(), name.c_str()) != 0) {
        unlinkat(folder_.get(), fresh.c_str(), 0);
    }
}

// Removes what dead processes left, and the entries longest out of use while there is too much.
void Cache::evict() const {
    std::vector<Entry> entries = list(folder_.get());
    std::sort(entries.begin(), entries.end(),
              [](const Entry &a, const Entry &b) { return a.used > b.used; });
    uint64_t total = 0;
    for (const Entry &entry : entries) {
        const bool abandoned =
            entry.name.rfind(TEMPORARY, 0) == 0 && time(nullptr) - entry.used > ABANDONED;
        const bool kept = ends_with(entry.name, SUFFIX);
        if (kept) total += entry.size;
        if (abandoned || (kept && total > limit_)) unlinkat(folder_.get(), entry.name.c_str(), 0);
    }
}

}  // namespace msl
