#include "file_descriptor.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace msl {

bool FileDescriptor::write_all(std::string_view bytes) const {
    while (!bytes.empty()) {
        const ssize_t written = write(number_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(written);
    }
    return true;
}

bool FileDescriptor::read_all(std::string &bytes) const {
    struct stat status;
    if (fstat(number_, &status) != 0) return false;
    bytes.resize(status.st_size);
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t count = pread(number_, &bytes[done], bytes.size() - done, done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        done += count;
    }
    return true;
}

FileDescriptor FileDescriptor::in_memory(const char *name) {
    FileDescriptor file(memfd_create(name, MFD_CLOEXEC));
    if (!file || file.get() > STDERR_FILENO) return file;
    // Where standard streams were closed: their numbers are wanted for other things.
    return FileDescriptor(fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

}  // namespace msl
