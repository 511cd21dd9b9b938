#include "kernels.h"

#include "kernel_templates.h"
#include "parameters.h"

#include <map>

namespace msl {
namespace {

constexpr std::string_view LIMIT_PREFIX = "__msl_limit";

struct Head {
    Attributes attributes;  // of the function, in whatever place
    size_t name = 0;        // token
    size_t open = 0;        // parenthesis before the parameters
    size_t close = 0;
    bool kernel = false;
};

// The function's name without its scope.
std::string_view word_of(const Kernel &kernel) {
    const std::string_view own = kernel.function;
    const size_t scope = own.rfind("::");
    return scope == own.npos ? own : own.substr(scope + 2);
}

class KernelFinder {
  public:
    explicit KernelFinder(Tokens &tokens) : tokens_(tokens) {}

    void visit(const Declaration &declaration) {
        const bool templated = tokens_[declaration.first] == "template";
        if (templated && tokens_[declaration.first + 1] != "<") {
            if (names_kernel(declaration)) take_instantiation(declaration);
            return;
        }
        const Head head = read_head(declaration);
        const bool definition = declaration.body <= declaration.last;
        if (head.kernel && head.close < declaration.last && definition) {
            take_definition(declaration, head, templated);
        }
    }

    std::vector<Kernel> take() { return std::move(kernels_); }

  private:
    bool names_kernel(const Declaration &declaration) const {
        for (size_t k = declaration.first; k <= declaration.last; k++) {
            if (tokens_[k] == "kernel") return true;
        }
        return false;
    }

    Head read_head(const Declaration &declaration) const {
        Head head;
        size_t k = declaration.first;
        if (tokens_[k] == "template") k = tokens_.closing_angle(k + 1) + 1;
        for (; k < declaration.body; k++) {
            if (tokens_.opens_attributes(k)) {
                k = read_attributes(tokens_, k, head.attributes);
            } else if (tokens_[k] == "kernel") {
                head.kernel = true;
            } else if (tokens_[k] == "__attribute__" || tokens_[k] == "decltype" ||
                       tokens_[k] == "alignas") {
                k = tokens_.closing(k + 1);
            } else if (tokens_[k] == "(" && head.open == 0) {
                head.open = k;
                k = head.close = tokens_.closing(k);
            } else if (head.open == 0 && tokens_.is(k, TokenKind::Identifier)) {
                head.name = k;
            }
        }
        head.kernel |= find_attribute(head.attributes, "kernel") != nullptr;
        if (head.open == 0) head.kernel = false;
        return head;
    }

    void take_definition(const Declaration &declaration, const Head &head, bool templated) {
        Kernel kernel;
        const std::string name(tokens_[head.name]);
        const Attribute *host_name = find_attribute(head.attributes, "host_name");
        kernel.name = host_name ? string_value(host_name->argument) : name;
        kernel.function = declaration.scope + name;
        kernel.position = tokens_.position(head.name);
        kernel.parameters =
            read_parameters(tokens_, head.open, head.close, declaration.body, declaration.last);
        kernel.limit = declare_limit(declaration, head, templated);
        if (templated) {
            const size_t open = declaration.first + 1;
            templates_[name].push_back({read_template_parameters(tokens_, open), kernel});
        } else {
            kernel.first = declaration.first;
            kernel.last = declaration.last;
            add(std::move(kernel), host_name != nullptr);
        }
    }

    // The attribute may name template parameters, so it is evaluated where they are in scope.
    std::string declare_limit(const Declaration &declaration, const Head &head, bool templated) {
        const Attribute *limit =
            find_attribute(head.attributes, "max_total_threads_per_threadgroup");
        if (!limit) return "0";
        // Kernels of one name may have limits of their own.
        const std::string name = std::string(LIMIT_PREFIX) + std::to_string(limits_++) + "_" +
                                 std::string(tokens_[head.name]);
        std::string text;
        if (templated) {
            const size_t close = tokens_.closing_angle(declaration.first + 1);
            text = std::string(tokens_.between(declaration.first, close)) + " ";
        }
        text += "constexpr unsigned " + name + " = (" + limit->argument + "); ";
        tokens_.insert_before(declaration.first, without_newlines(text));
        return declaration.scope + name;
    }

    static std::string without_newlines(std::string text) {
        for (char &c : text) {
            if (c == '\n') c = ' ';
        }
        return text;
    }

    // template [[host_name("x")]] [[kernel]] TYPE name<arguments> [(parameters)];
    void take_instantiation(const Declaration &declaration) {
        Attributes attributes;
        size_t name = 0, last = declaration.last - 1;
        for (size_t k = declaration.first; k < declaration.last; k++) {
            if (tokens_.opens_attributes(k)) {
                k = read_attributes(tokens_, k, attributes);
            } else if (tokens_[k] == "(") {
                const size_t close = tokens_.closing(k);
                if (close == last && name != 0) last = k - 1;
                k = close;
            } else if (tokens_[k + 1] == "<" && templates_.count(std::string(tokens_[k]))) {
                name = k;
            }
        }
        if (name == 0) return;  // the compiler says what is wrong with it
        const bool named = find_attribute(attributes, "host_name") != nullptr;
        add(instance(name, last, attributes), named);
        tokens_.blank(declaration.first, declaration.last);
    }

    // Of the template at `name`; its arguments end at the token `last`.
    Kernel instance(size_t name, size_t last, const Attributes &attributes) {
        Kernel kernel =
            choose_template(templates_[std::string(tokens_[name])], tokens_, name + 1, last);
        const std::string arguments =
            without_newlines(std::string(tokens_.between(name + 1, last)));
        const Attribute *host_name = find_attribute(attributes, "host_name");
        if (host_name) kernel.name = string_value(host_name->argument);
        kernel.function += arguments;
        if (kernel.limit != "0") kernel.limit += arguments;
        kernel.position = tokens_.position(name);
        return kernel;
    }

    // Instances without a name for the host share that of their template, kernels of different
    // namespaces may be called the same: the host gets the first.
    void add(Kernel kernel, bool named) {
        for (const Kernel &other : kernels_) {
            if (other.name != kernel.name) continue;
            const bool elsewhere =
                word_of(other) == word_of(kernel) && other.function != kernel.function;
            if (!named && (is_instance(kernel) || elsewhere)) return;
            throw TextError{kernel.position, "redefinition of kernel '" + kernel.name + "'",
                            MSL_FAILURE_SOURCE,
                            TextNote{other.position, "previous definition is here"}};
        }
        kernels_.push_back(std::move(kernel));
    }

    Tokens &tokens_;
    std::map<std::string, std::vector<KernelTemplate>> templates_;
    std::vector<Kernel> kernels_;
    size_t limits_ = 0;
};

}  // namespace

void remove_other_kernels(Tokens &tokens, const std::vector<Kernel> &kernels,
                          const std::string &name) {
    std::map<std::string_view, size_t> mentions;
    for (size_t k = 0; k < tokens.size(); k++)
        mentions[tokens[k]]++;
    for (const Kernel &kernel : kernels) {
        const bool called = mentions[word_of(kernel)] > 1;
        if (kernel.first < kernel.last && kernel.name != name && !called)
            tokens.blank(kernel.first, kernel.last);
    }
}

std::vector<Kernel> take_kernels(Tokens &tokens, const std::vector<Declaration> &declarations) {
    KernelFinder finder(tokens);
    for (const Declaration &declaration : declarations)
        finder.visit(declaration);
    return finder.take();
}

}  // namespace msl
