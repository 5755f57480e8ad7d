"""What the house wants less of does not grow: circles, large classes, wide lines of text."""

from pathlib import Path

import pytest
from classes import Class, cpp_classes
from includes import largest_cycle, upward_includes
from ratchets import allowed, measured, wide_lines, worse

NOW = measured()


@pytest.mark.parametrize("what", NOW)
def test_there_is_no_more_of_it_than_before(what: str) -> None:
    assert not worse(NOW[what], allowed()[what])


def test_more_of_anything_is_seen() -> None:
    assert worse({"a": 2, "b": 1, "c": 1}, {"a": 1, "b": 1}) == {
        "a": "2, and 1 before",
        "c": "1, and none before",
    }


def test_the_counter_of_classes_sees_functions_and_fields() -> None:
    text = """
    class Small {
     public:
      Small() : a_(1) { if (a_) { a_ = 2; } }
      int get() const { return a_; }
      void set(int a);
      using Name = int;
      static constexpr int most = 3;
      struct Inner { int x = 0; int y{1}; };
      enum class Kind { one, two };
      friend class Other;
      std::function<void(int)> callback;

     private:
      int a_ = 0;
      std::vector<int> b_{1, 2};
    };
    """
    assert list(cpp_classes(text)) == [Class("Small", 3, 3), Class("Inner", 0, 2)]


def test_circles_are_found_and_only_the_largest_counts() -> None:
    includes = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert largest_cycle(includes) == {"a", "b", "c"}
    assert largest_cycle({"a": {"b"}, "b": set()}) == set()


def test_an_include_of_a_higher_floor_is_seen(tmp_path: Path) -> None:
    for unit, other in [("low/a", "high/b"), ("high/b", "low/c"), ("low/c", "low/a")]:
        path = tmp_path / "layer" / f"{unit}.hpp"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#include "layer/{other}.hpp"\n')
    found = upward_includes(tmp_path, "layer", ("low", "high"))
    assert found == [("layer/low/a", "layer/high/b")]


def test_wide_lines_of_tables_and_addresses_are_left_alone() -> None:
    wide = "word " * 40
    assert wide_lines(f"{wide}\n| {wide} |\n{'x' * 200}\nshort\n") == 1
