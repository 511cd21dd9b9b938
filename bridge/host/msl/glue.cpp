#include "glue.h"

#include "text_error.h"
#include "thread_values.h"

namespace msl {
namespace {

const Attribute *find_index(const Parameter &parameter) {
    const Attribute *buffer = find_attribute(parameter.attributes, "buffer");
    return buffer ? buffer : find_attribute(parameter.attributes, "threadgroup");
}

// One kernel's functions and tables. What can be wrong with a parameter or an attribute has a line
// of its own.
class KernelGlue {
  public:
    KernelGlue(const Kernel &kernel, size_t number)
        : kernel_(kernel), number_(std::to_string(number)) {
        refuse_shared_places();
        add("namespace __msl_glue_" + number_ + " { using F = __msl::function<decltype(&::" +
                kernel_.function + ")>; static_assert(sizeof(F));",
            kernel_.position);
        declare_indices();
        const std::vector<std::string> arguments = read_arguments();
        add("static const msl_binding bindings[] = {", kernel_.position);
        for (const auto &[row, position] : bindings_)
            add(row, position);
        // Inlining would compile the kernel twice, as its address is taken besides. The word
        // without underscores means nothing here: see msl_keywords.h.
        add("{} }; static void entry([[maybe_unused]] const msl_thread *self) { "
            "[[clang::__noinline__]] ::" +
                kernel_.function + "(",
            kernel_.position);
        for (size_t i = 0; i < arguments.size(); i++)
            add((i ? ", " : "") + arguments[i], kernel_.parameters[i].position);
        add("); } }", kernel_.position);
    }

    const std::string &text() const { return text_; }
    const std::vector<Position> &positions() const { return positions_; }

    std::string row() const {
        const std::string scope = "__msl_glue_" + number_ + "::";
        return "{\"" + kernel_.name + "\", " + scope +
               "entry, (const void *)&::" + kernel_.function + ", " + kernel_.limit + ", " +
               std::to_string(bindings_.size()) + ", " + scope + "bindings}, ";
    }

  private:
    void add(std::string line, const Position &position) {
        for (char &c : line)
            c = c == '\n' ? ' ' : c;
        text_ += line + "\n";
        positions_.push_back(position);
    }

    static std::string index_name(size_t parameter) { return "index_" + std::to_string(parameter); }

    // Those that attributes give.
    void declare_indices() {
        for (size_t i = 0; i < kernel_.parameters.size(); i++) {
            const Parameter &parameter = kernel_.parameters[i];
            const Attribute *index = find_index(parameter);
            if (!index) continue;
            if (index->argument.empty()) {
                throw TextError{index->position,
                                "'" + parameter.name + "' has an attribute without its index"};
            }
            declare_index(i, "(" + index->argument + ")", index->position);
            (index->name == "buffer" ? used_buffers_ : used_memories_) += ", " + index_name(i);
        }
    }

    void declare_index(size_t parameter, const std::string &value, const Position &position) {
        const std::string name = index_name(parameter);
        add("enum : long { " + name + " = " + value + " }; static_assert(__msl::is_index(" + name +
                "), \"argument indices go from 0 to 30\");",
            position);
    }

    std::vector<std::string> read_arguments() {
        std::vector<std::string> arguments;
        for (size_t i = 0; i < kernel_.parameters.size(); i++)
            arguments.push_back(argument(i, "F::argument<" + std::to_string(i) + ">"));
        return arguments;
    }

    std::string argument(size_t number, const std::string &type) {
        const Parameter &parameter = kernel_.parameters[number];
        const Attributes &attributes = parameter.attributes;
        if (const Attribute *index = find_index(parameter)) {
            const bool buffer = index->name == "buffer";
            return bound(parameter, type, buffer ? "BUFFER" : "THREADGROUP_MEMORY",
                         index_name(number));
        }
        const std::string value = thread_value(attributes, type);
        if (!value.empty()) return value;
        if (!parameter.points) refuse(parameter);
        const bool memory = parameter.threadgroup;
        declare_index(number,
                      memory ? free_index(free_memories_, used_memories_)
                             : free_index(free_buffers_, used_buffers_),
                      parameter.position);
        return bound(parameter, type, memory ? "THREADGROUP_MEMORY" : "BUFFER", index_name(number));
    }

    // Without an attribute: the indices that no other parameter names, in order.
    static std::string free_index(size_t &next, const std::string &used) {
        return "__msl::free_index(" + std::to_string(next++) + used + ")";
    }

    std::string bound(const Parameter &parameter, const std::string &type, const std::string &kind,
                      const std::string &index) {
        if (parameter.tensor) refuse_tensor(parameter);
        const Attribute *enabled = find_attribute(parameter.attributes, "function_constant");
        std::string used = parameter.used ? "true" : "false";
        if (enabled) used += " && bool(" + enabled->argument + ")";
        bindings_.emplace_back("__msl::binding<" + type + ", (" + index + ")>(\"" + parameter.name +
                                   "\", MSL_BINDING_" + kind + ", " + used + "), ",
                               enabled ? enabled->position : parameter.position);
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

    [[noreturn]] static void refuse_tensor(const Parameter &parameter) {
        throw TextError{parameter.position,
                        "'" + parameter.name +
                            "' is a tensor of the host's: this device does not support tensors as "
                            "arguments; take a pointer, and make a tensor_inline of it",
                        MSL_FAILURE_UNSUPPORTED};
    }

    const Kernel &kernel_;
    const std::string number_;
    std::string text_, used_buffers_, used_memories_;
    std::vector<Position> positions_;
    std::vector<std::pair<std::string, Position>> bindings_;
    size_t free_buffers_ = 0, free_memories_ = 0;
};

}  // namespace

std::vector<std::string_view> argument_attributes() {
    std::vector<std::string_view> names = thread_attributes();
    names.insert(names.end(), {"buffer", "threadgroup", "function_constant"});
    return names;
}

std::vector<Position> glue_positions(const std::vector<Kernel> &kernels) {
    std::vector<Position> all;
    for (size_t i = 0; i < kernels.size(); i++) {
        const KernelGlue kernel(kernels[i], i);
        all.insert(all.end(), kernel.positions().begin(), kernel.positions().end());
    }
    return all;
}

std::string glue(const std::vector<Kernel> &kernels, const LibraryFacts &facts) {
    std::string text = "\n#line 1 \"" + std::string(GLUE_NAME) + "\"\n", rows, constants;
    for (size_t i = 0; i < kernels.size(); i++) {
        const KernelGlue kernel(kernels[i], i);
        text += kernel.text();
        rows += kernel.row();
    }
    for (const DeclaredConstant &constant : facts.declared) {
        constants += "{\"" + constant.name + "\", " + std::to_string(constant.index) + ", \"" +
                     constant.type + "\"}, ";
    }
    // The label is needed because msl_image names a type too.
    return text + "static const msl_kernel __msl_kernels[] = { " + rows +
           "{} };\nstatic const msl_declared_constant __msl_declared[] = { " + constants +
           "{} };\nextern \"C\" __attribute__((visibility(\"default\"))) const msl_image "
           "__msl_image __asm__(\"msl_image\");\nconst msl_image __msl_image = { "
           "MSL_ABI_VERSION, " +
           std::to_string(kernels.size()) + ", __msl_kernels, __msl::bind, \"" +
           facts.source_digest + "\", R\"_(" + facts.constants + ")_\", " +
           std::to_string(facts.declared.size()) + ", __msl_declared };\n";
}

}  // namespace msl
