#include "library.h"

#include "elf_file.h"
#include "elf_symbols.h"
#include "failure.h"
#include "file_descriptor.h"
#include "temporary_folder.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>

// The C library's own way to a thread-local variable; it allocates the block on first use.
struct ThreadLocalIndex {
    unsigned long module, offset;
};
extern "C" void *__tls_get_addr(ThreadLocalIndex *);

namespace {

// The loader takes a name that it has met for the library that it loaded then; descriptors' numbers
// come back. So each load writes the same path in another way: a number in binary, in slashes.
std::string fresh_path(int descriptor) {
    static std::atomic<uint64_t> loads{0};
    std::string path = "/proc/self/fd/";
    for (uint64_t bits = ++loads; bits; bits >>= 1)
        path += bits & 1 ? "./" : "/";
    return path + std::to_string(descriptor);
}

// As the kernel's text calls it: _ZZ<encoding of the function>E<length><name>, and perhaps
// _<number>.
std::string source_name(const std::string &mangled) {
    for (size_t at = 0; (at = mangled.find('E', at)) != std::string::npos; at++) {
        const size_t digits = at + 1, name = mangled.find_first_not_of("0123456789", digits);
        if (name == digits || name == std::string::npos) continue;
        const size_t length = std::strtoul(mangled.c_str() + digits, nullptr, 10);
        const size_t end = name + length;
        if (end == mangled.size() || (end < mangled.size() && mangled[end] == '_'))
            return mangled.substr(name, length);
    }
    return mangled;
}

[[noreturn]] void refuse(const std::string &problem) {
    throw msl::Failure{MSL_FAILURE_IO, "cannot load a kernel library: " + problem};
}

void *load(const msl::FileDescriptor &file, const std::string &bytes) {
    if (!file || !file.write_all(bytes)) return nullptr;
    return dlopen(fresh_path(file.get()).c_str(), RTLD_NOW | RTLD_LOCAL);
}

// From memory: no noexec file system is in the way, and truncating a file cannot end the process
// that has it mapped. Some systems forbid to execute such memory; there a file has to do.
void *load(const std::string &bytes) {
    if (void *handle = load(msl::FileDescriptor::in_memory("kernels"), bytes)) return handle;
    const msl::TemporaryFolder folder;
    const std::string path = folder.path() + "/kernels.so";
    return load(msl::FileDescriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRWXU)),
                bytes);
}

}  // namespace

msl_library::msl_library(const std::string &bytes) {
    if (listing_.read(bytes)) {
        image_ = &listing_.image();
        static_memory_.resize(image_->kernel_count);
    } else {
        open(bytes);
    }
}

void msl_library::open(const std::string &bytes) {
    handle_ = load(bytes);
    if (!handle_) {
        const char *problem = dlerror();
        refuse(problem ? problem : "no memory for it");
    }
    image_ = static_cast<const msl_image *>(dlsym(handle_, "msl_image"));
    if (!image_ || image_->abi_version != MSL_ABI_VERSION) {
        dlclose(handle_);
        refuse(image_ ? "it is of another version" : "it has no kernels");
    }
    dlinfo(handle_, RTLD_DI_TLS_MODID, &module_);
    lines_ = msl::LineTable(msl::elf_section(bytes, ".debug_line"));
    measure_kernels(bytes);
}

msl_library::~msl_library() {
    if (handle_) dlclose(handle_);
}

uint64_t msl_library::load_address() const {
    link_map *map = nullptr;
    dlinfo(handle_, RTLD_DI_LINKMAP, &map);
    return map ? map->l_addr : 0;
}

void msl_library::measure_kernels(const std::string &bytes) {
    const msl::ElfSymbols symbols(bytes);
    block_bytes_ = symbols.thread_local_block();
    name_variables(symbols.variables());
    memory_bytes_ = symbols.memory();
    for (uint32_t i = 0; i < image_->kernel_count; i++) {
        const auto address = reinterpret_cast<uint64_t>(image_->kernels[i].function);
        static_memory_.push_back(symbols.thread_local_bytes(address - load_address()));
    }
}

void msl_library::name_variables(const std::vector<msl::ElfSymbols::Variable> &variables) {
    for (const auto &variable : variables)
        variable_names_.push_back(source_name(variable.name));
    for (size_t i = 0; i < variables.size(); i++) {
        // _ZGV: whether another one is initialised.
        const bool own = variables[i].name.compare(0, 4, "_ZGV") == 0;
        const char *name = own ? nullptr : variable_names_[i].c_str();
        variables_.push_back({name, variables[i].offset, variables[i].size});
    }
}

const msl_kernel *msl_library::find(const char *name) const {
    for (uint32_t i = 0; i < image_->kernel_count; i++) {
        if (std::strcmp(image_->kernels[i].name, name) == 0) return &image_->kernels[i];
    }
    return nullptr;
}

uint32_t msl_library::static_memory(const msl_kernel *kernel) const {
    return static_memory_[kernel - image_->kernels];
}

void *msl_library::threadgroup_block(size_t *bytes) const {
    *bytes = block_bytes_;
    if (block_bytes_ == 0) return nullptr;
    ThreadLocalIndex start = {module_, 0};
    return __tls_get_addr(&start);
}

msl::LinePlace msl_library::line_of(const void *address) const {
    if (!handle_) return {};
    return lines_.find(reinterpret_cast<uint64_t>(address) - load_address());
}

const void *msl_library::memory(size_t *bytes) const {
    *bytes = memory_bytes_;
    return reinterpret_cast<const void *>(load_address());
}
