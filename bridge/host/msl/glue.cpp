#include "glue.h"

#include "text_error.h"
#include "thread_values.h"

namespace msl {
namespace {

// One kernel's functions and tables, in one line.
class KernelGlue {
  public:
    KernelGlue(const Kernel &kernel, size_t number)
        : kernel_(kernel), number_(std::to_string(number)) {
        for (const Parameter &parameter : kernel.parameters) {
            const Attribute *index = find_attribute(parameter.attributes, "buffer");
            if (index) used_buffers_ += ", (" + index->argument + ")";
            index = find_attribute(parameter.attributes, "threadgroup");
            if (index) used_memories_ += ", (" + index->argument + ")";
        }
    }

    std::string functions() {
        refuse_shared_places();
        std::string arguments;
        for (size_t i = 0; i < kernel_.parameters.size(); i++) {
            const std::string type = "F::argument<" + std::to_string(i) + ">";
            arguments += (i ? ", " : "") + argument(kernel_.parameters[i], type);
        }
        const std::string alias = "using F = __msl::function<decltype(&::" + kernel_.function +
                                  ")>; static_assert(sizeof(F)); ";
        std::string text = "namespace __msl_glue_" + number_ + " { " + alias;
        text += "static const msl_binding bindings[] = { " + bindings_ + "{} }; ";
        // Inlining would compile the kernel twice, as its address is taken besides.
        text +=
            "static void entry([[maybe_unused]] const msl_thread *self) { [[clang::noinline]] ::" +
            kernel_.function + "(" + arguments + "); } }";
        return text;
    }

    std::string row() const {
        const std::string scope = "__msl_glue_" + number_ + "::";
        return "{\"" + kernel_.name + "\", " + scope +
               "entry, (const void *)&::" + kernel_.function + ", " + kernel_.limit + ", " +
               std::to_string(binding_count_) + ", " + scope + "bindings}, ";
    }

  private:
    std::string argument(const Parameter &parameter, const std::string &type) {
        const Attributes &attributes = parameter.attributes;
        if (const Attribute *buffer = find_attribute(attributes, "buffer")) {
            return bound(parameter, type, "BUFFER", buffer->argument);
        }
        if (const Attribute *memory = find_attribute(attributes, "threadgroup")) {
            return bound(parameter, type, "THREADGROUP_MEMORY", memory->argument);
        }
        const std::string value = thread_value(attributes, type);
        if (!value.empty()) return value;
        if (!parameter.points) refuse(parameter);
        if (parameter.threadgroup) {
            return bound(parameter, type, "THREADGROUP_MEMORY",
                         free_index(free_memories_, used_memories_));
        }
        return bound(parameter, type, "BUFFER", free_index(free_buffers_, used_buffers_));
    }

    // Without an attribute: the indices that no other parameter names, in order.
    static std::string free_index(size_t &next, const std::string &used) {
        return "__msl::free_index(" + std::to_string(next++) + used + ")";
    }

    std::string bound(const Parameter &parameter, const std::string &type, const std::string &kind,
                      const std::string &index) {
        if (index.empty()) {
            throw TextError{parameter.position,
                            "'" + parameter.name + "' has an attribute without its index"};
        }
        const Attribute *enabled = find_attribute(parameter.attributes, "function_constant");
        const std::string condition = enabled ? "bool(" + enabled->argument + ")" : "true";
        const std::string used = parameter.used ? condition : "false";
        bindings_ += "__msl::binding<" + type + ", (" + index + ")>(\"" + parameter.name +
                     "\", MSL_BINDING_" + kind + ", " + used + "), ";
        binding_count_++;
        const std::string source = kind == "BUFFER" ? "buffers" : "threadgroup_memory";
        return "__msl::pointer<" + type + ">(self->" + source + "[" + index + "])";
    }

    // Of two arguments that a function constant chooses between, one is enabled.
    static bool share_place(const Parameter &a, const Parameter &b) {
        for (const char *kind : {"buffer", "threadgroup"}) {
            const Attribute *one = find_attribute(a.attributes, kind),
                            *other = find_attribute(b.attributes, kind);
            if (one && other && one->argument == other->argument) {
                return !find_attribute(a.attributes, "function_constant") ||
                       !find_attribute(b.attributes, "function_constant");
            }
        }
        return false;
    }

    void refuse_shared_places() const {
        const std::vector<Parameter> &all = kernel_.parameters;
        for (size_t i = 0; i < all.size(); i++) {
            for (size_t j = 0; j < i; j++) {
                if (!share_place(all[i], all[j])) continue;
                const Attribute *buffer = find_attribute(all[i].attributes, "buffer");
                const Attribute *place =
                    buffer ? buffer : find_attribute(all[i].attributes, "threadgroup");
                throw TextError{all[i].position, "'" + all[i].name + "' has the same place as '" +
                                                     all[j].name + "': [[" + place->name + "(" +
                                                     place->argument + ")]]"};
            }
        }
    }

    [[noreturn]] void refuse(const Parameter &parameter) const {
        const std::string subject =
            "parameter '" + parameter.name + "' of kernel '" + kernel_.name + "' ";
        std::string unknown;
        for (const Attribute &attribute : parameter.attributes)
            unknown += (unknown.empty() ? "; unknown: '" : ", '") + attribute.name + "'";
        throw TextError{parameter.position,
                        subject + "has no attribute that gives it a value" + unknown};
    }

    const Kernel &kernel_;
    const std::string number_;
    std::string used_buffers_, used_memories_, bindings_;
    size_t free_buffers_ = 0, free_memories_ = 0, binding_count_ = 0;
};

}  // namespace

std::string glue(const std::vector<Kernel> &kernels, const std::string &source_digest,
                 const std::string &constants) {
    std::string text = "\n#line 1 \"" + std::string(GLUE_NAME) + "\"\n", rows;
    for (size_t i = 0; i < kernels.size(); i++) {
        KernelGlue kernel(kernels[i], i);
        text += kernel.functions() + "\n";
        rows += kernel.row();
    }
    // The label is needed because msl_image names a type too.
    return text + "static const msl_kernel __msl_kernels[] = { " + rows +
           "{} };\nextern \"C\" __attribute__((visibility(\"default\"))) const msl_image "
           "__msl_image __asm__(\"msl_image\");\nconst msl_image __msl_image = { "
           "MSL_ABI_VERSION, " +
           std::to_string(kernels.size()) + ", __msl_kernels, __msl::bind, \"" + source_digest +
           "\", R\"_(" + constants + ")_\" };\n";
}

}  // namespace msl
