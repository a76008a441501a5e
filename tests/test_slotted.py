"""Value classes without `dataclasses` behave as dataclasses do."""

import dataclasses
import pickle
import subprocess
import sys

import pytest

from git_pkb.slotted import Default, made_by, mutable, value


@value
class Point:
    """A frozen one."""

    x: int
    y: int = 2
    tags: list[str] = made_by(list)
    unit: str = Default("mm", doc="of length")  # type: ignore[assignment]

    @property
    def sum(self) -> int:
        """Methods stay."""
        return self.x + self.y


@mutable
class Box:
    """One that may change."""

    size: int
    content: list[int] = made_by(list)


@value
class Empty:
    """No fields at all."""


def test_construction() -> None:
    """Fields by place and by name, defaults, and a new list for each."""
    point = Point(1)
    assert (point.x, point.y, point.tags, point.unit, point.sum) == (1, 2, [], "mm", 3)
    assert Point(1, y=5).y == 5
    assert Point(1).tags is not Point(1).tags
    assert Box(1).content is not Box(1).content
    assert Empty() == Empty()


@pytest.mark.parametrize("wrong", [{}, {"z": 1, "x": 1}])
def test_wrong_arguments(wrong: dict[str, int]) -> None:
    """A missing or unknown field is a TypeError, at the first call and later."""
    with pytest.raises(TypeError):
        Point(**wrong)


def test_values_are_equal_by_value() -> None:
    """Equal fields, equal values; another class is never equal; frozen ones can be keys."""
    assert Point(1) == Point(1) != Point(2)
    assert Point(1) != (1, 2, [], "mm")
    assert hash(dataclasses.replace(Point(1), tags=())) == hash(dataclasses.replace(Point(1), tags=()))
    assert Box(1) == Box(1) != Box(2)
    with pytest.raises(TypeError):
        hash(Box(1))


def test_frozen_and_not() -> None:
    """A value refuses to change, and nobody gets a new attribute."""
    point, box = Point(1), Box(1)
    with pytest.raises(AttributeError, match="frozen"):
        point.x = 5  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        del point.x
    box.size = 5
    assert box.size == 5
    with pytest.raises(AttributeError):
        box.other = 1  # type: ignore[attr-defined]


def test_repr_and_pickle() -> None:
    """Shown as a dataclass is, and sent to another process whole."""
    assert repr(Point(1)) == "Point(x=1, y=2, tags=[], unit='mm')"
    for instance in (Point(1, 3), Box(1, [2])):
        assert pickle.loads(pickle.dumps(instance)) == instance  # noqa: S301 - made in this line


def test_dataclasses_takes_them_for_its_own() -> None:
    """`fields`, `replace`, `asdict` and `is_dataclass` work, metadata included."""
    assert dataclasses.is_dataclass(Point)
    assert dataclasses.replace(Point(1), y=9) == Point(1, 9)
    assert dataclasses.asdict(Point(1)) == {"x": 1, "y": 2, "tags": [], "unit": "mm"}
    fields = {field.name: field for field in dataclasses.fields(Point)}
    assert fields["unit"].metadata == {"doc": "of length"}
    assert (fields["unit"].default, fields["tags"].default_factory, fields["y"].default) == ("mm", list, 2)


def test_matching_by_position() -> None:
    """A `match` statement takes fields in order."""
    match Point(4, 5):
        case Point(x, y):
            assert (x, y) == (4, 5)


def test_defining_them_loads_nothing() -> None:
    """That is what they are for: `dataclasses` would load `inspect`."""
    program = (
        "import sys, git_pkb.model, git_pkb.config; print({'dataclasses', 'inspect'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
