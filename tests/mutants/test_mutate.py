"""Changes are made where they are said to be, and nowhere else; a seed makes the same ones."""

import mutate

SOURCE = """\
namespace a {
// in a comment: if (x < 1)
class B {
 public:
  explicit B(int x) : x_(x), y_{x} {}
  bool is_less(int other) const { return x_ < other && other != 7; }
  template <typename T>
  void set(std::optional<T> value) {
    if (value) x_ = *value + 1;
    call("a string < of words", value);
  }

 private:
  int x_ = 3;
  int y_;
};
constexpr int table[] = {1, 2, 3};
}  // namespace a
"""
FILE = "src/protocols/b/b.hpp"


def keys(text: str) -> list[str]:
    return [change.key(text) for change in mutate.changes_in(FILE, text, {})]


def test_bodies_of_functions_are_found_and_nothing_else() -> None:
    code = mutate.blank(SOURCE)
    assert [SOURCE[begin:end].partition("\n")[0] for begin, end in mutate.bodies(code)] == [
        "{}",
        "{ return x_ < other && other != 7; }",
        "{",
    ]


def test_operators_constants_conditions_and_statements_are_changed() -> None:
    line = "bool is_less(int other) const { return x_ < other && other != 7; }"
    found = keys(SOURCE)
    for old, new in [(" < ", " <= "), (" < ", " >= "), ("&&", "||"), ("!=", "=="), ("7", "8")]:
        assert f"{line}  =>  {line.replace(old, new)}" in found
    line = "if (value) x_ = *value + 1;"
    for new in [line.replace("(value)", "(!(value))"), line.replace("+", "-")]:
        assert f"{line}  =>  {new}" in found
    assert 'call("a string < of words", value);  =>  ;' in found
    assert not any("table" in key or "int x_" in key or "comment" in key for key in found)


def test_each_mutant_is_a_body_of_its_own_that_is_chosen_by_its_number() -> None:
    changes = mutate.changes_in(FILE, SOURCE, {})
    one = next(it for it in changes if it.new == "||")
    other = next(it for it in changes if it.new == ">=")
    text = mutate.with_mutants(FILE, SOURCE, {1: one, 2: other})
    first = text.index("runs(1)")
    second = text.index("runs(2)")
    assert "x_ < other || other" in text[first:second]
    assert "x_ >= other && other" in text[second:]
    assert "x_ < other && other" in text[second:]
    assert '#line 6 "mutant-1"' in text
    assert f'#line 6 "{FILE}"' in text
    assert text.count("{") == text.count("}")


def test_the_same_seed_draws_the_same_mutants() -> None:
    sources = {FILE: SOURCE, "src/protocols/b/b_test.cpp": SOURCE, "src/sim/b.cpp": SOURCE}
    drawn = mutate.draw(sources, 5, 6)
    assert drawn == mutate.draw(sources, 5, 6)
    assert drawn != mutate.draw(sources, 6, 6)
    assert len({(it.begin, it.end) for it in drawn}) == 6
    assert {it.file for it in drawn} == {FILE}
