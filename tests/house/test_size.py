"""A file over 600 lines, or a function over 70, probably holds two ideas."""

from functions import Function, cpp_functions, python_functions
from sources import CPP, ROOT, files, name

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
ARCHITECTURE_LINES_MAX = 200


def test_no_file_is_longer_than_600_lines():
    too_long = {
        name(path): lines
        for path in files(CPP | {".py"})
        if (lines := path.read_text().count("\n")) > FILE_LINES_MAX
    }
    assert not too_long


def test_the_architecture_is_told_in_200_lines():
    assert (ROOT / "ARCHITECTURE.md").read_text().count("\n") <= ARCHITECTURE_LINES_MAX


def test_no_function_is_longer_than_70_lines():
    too_long = []
    for path in files(CPP | {".py"}):
        functions = python_functions if path.suffix == ".py" else cpp_functions
        for function in functions(path):
            if function.lines > FUNCTION_LINES_MAX:
                too_long.append(f"{name(path)}:{function.line} {function.name}: {function.lines}")
    assert not too_long


def test_the_counter_sees_functions_methods_and_test_cases(tmp_path):
    sample = tmp_path / "sample.cpp"
    sample.write_text(
        "#include <x>\n"
        "#define TWICE(x) { \\\n  x; x; }\n"
        "namespace n {\n"
        "struct S {\n"
        "  int member = 0;\n"
        "  S(int a) : member{a} {\n"
        "  }\n"
        "  int get() const { return member; }\n"
        "};\n"
        'const char* brace = "{"; // {\n'
        "template <typename T>\n"
        "auto f(T t) -> int {\n"
        "  if (t) {\n"
        "    auto g = [&](int x) { return x; };\n"
        "  }\n"
        "  return 1'000;\n"
        "}\n"
        "}  // namespace n\n"
        'TEST_CASE("a brace { in a name") {\n'
        "  CHECK(true);\n"
        "}\n"
    )
    assert list(cpp_functions(sample)) == [
        Function("S", 7, 2),
        Function("get", 9, 1),
        Function("f", 12, 7),
        Function("TEST_CASE", 20, 3),
    ]


def test_the_counter_sees_known_functions_of_the_house():
    found = {function.name for function in cpp_functions(ROOT / "src/core/random.hpp")}
    assert {"splitmix64", "Random", "next", "below", "chance", "rotate"} <= found
