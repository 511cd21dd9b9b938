// A file descriptor that is closed with its owner.
#pragma once
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace msl {

class FileDescriptor {
  public:
    explicit FileDescriptor(int number = -1) : number_(number) {}
    FileDescriptor(FileDescriptor &&other) : number_(std::exchange(other.number_, -1)) {}
    FileDescriptor &operator=(FileDescriptor &&other) {
        std::swap(number_, other.number_);
        return *this;
    }
    ~FileDescriptor() {
        if (number_ >= 0) close(number_);
    }

    explicit operator bool() const { return number_ >= 0; }
    int get() const { return number_; }

    bool write_all(std::string_view bytes) const;
    // From the start of the file, whatever its position.
    bool read_all(std::string &bytes) const;

    // A file in memory that only this process and its children see.
    static FileDescriptor in_memory(const char *name);

  private:
    int number_;
};

}  // namespace msl
