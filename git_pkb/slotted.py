"""Value classes that cost nothing to define: `@dataclass(slots=True)` without loading `dataclasses`.

In: an annotated class body. Out: a class with slots, a constructor, equality by value, a readable `repr`;
`value` makes it frozen and hashable, `mutable` neither. Invariant: `dataclasses.fields`, `replace`, `asdict`
and `is_dataclass` work on these as on any dataclass, pickles too, and mypy checks them as dataclasses.

Why: `dataclasses` loads `inspect` (9 ms) and spends 0.3 ms on every class; one search touches forty of them,
and a search is to take less time than that. Here a constructor is compiled when it is first called.
"""

from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


class Default:
    """A default that is more than a constant: a factory, and what the class's author says about the field."""

    __slots__ = ("factory", "metadata", "value")

    def __init__(self, value: object = None, factory: Callable[[], object] | None = None, **metadata: object):
        self.value, self.factory, self.metadata = value, factory, metadata

    def get(self) -> object:
        """The value a field has that is not given."""
        return self.value if self.factory is None else self.factory()


def made_by(factory: Callable[[], object]) -> Any:
    """A field whose default is made anew for each instance."""
    return Default(factory=factory)


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """Make a frozen slotted class: equal when its fields are equal, hashable."""
    return _build(cls, frozen=True)


@dataclass_transform()
def mutable(cls: type[T]) -> type[T]:
    """Make a slotted class whose fields may be set: equal when its fields are equal, not hashable."""
    return _build(cls, frozen=False)


def _build(cls: type[T], *, frozen: bool) -> type[T]:
    names = tuple(cls.__annotations__)
    defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
    left_out = {*names, "__dict__", "__weakref__"}
    body = {name: each for name, each in cls.__dict__.items() if name not in left_out}
    body |= {
        "__slots__": names,
        "__match_args__": names,
        "__qualname__": cls.__qualname__,
        "__field_defaults__": defaults,
        "__dataclass_fields__": _Fields(),
        "__init__": _first_init,
        "__repr__": _repr,
        "__eq__": _eq,
        "__hash__": _hash if frozen else None,
        "__reduce__": _reduce,
    }
    if frozen:
        body |= {"__setattr__": _refuse, "__delattr__": _refuse}
    made: type[T] = type(cls).__new__(type(cls), cls.__name__, cls.__bases__, body)
    return made


def _first_init(self: Any, *args: Any, **given: Any) -> None:
    """Compile the constructor, then be it."""
    cls: Any = type(self)
    names = cls.__slots__
    scope: dict[str, Any] = {f"set_{name}": getattr(cls, name).__set__ for name in names}
    scope["absent"] = _ABSENT
    parameters, lines = ["self"], []
    for name in names:
        parameter = name
        if name in cls.__field_defaults__:
            default = cls.__field_defaults__[name]
            if isinstance(default, Default) and default.factory is not None:
                scope[f"default_{name}"] = default.factory
                parameter += "=absent"
                lines.append(f" if {name} is absent: {name} = default_{name}()")
            else:
                scope[f"default_{name}"] = default.value if isinstance(default, Default) else default
                parameter += f"=default_{name}"
        parameters.append(parameter)
        lines.append(f" set_{name}(self, {name})")
    source = f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines or [" pass"])
    exec(source, scope)  # noqa: S102 - made of the names of fields alone, as dataclasses does
    cls.__init__ = scope["__init__"]
    cls.__init__(self, *args, **given)


_ABSENT = Default()


def _values(self: Any) -> tuple[Any, ...]:
    return tuple([getattr(self, name) for name in self.__slots__])


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__ if name[0] != "_")
    return f"{type(self).__qualname__}({fields})"


def _eq(self: Any, other: object) -> Any:
    if type(self) is not type(other):
        return NotImplemented
    return _values(self) == _values(other)


def _hash(self: Any) -> int:
    return hash(_values(self))


def _reduce(self: Any) -> tuple[Any, tuple[Any, ...]]:
    return type(self), _values(self)


def _refuse(self: Any, name: str, *_: object) -> None:
    raise AttributeError(f"{type(self).__name__} is frozen: cannot change {name!r}")


class _Fields:
    """`__dataclass_fields__`, made when `dataclasses` asks for it."""

    def __get__(self, instance: object, owner: Any) -> dict[str, Any]:
        import dataclasses

        columns = []
        for name, kind in owner.__annotations__.items():
            given: dict[str, Any] = {}
            default = owner.__field_defaults__.get(name, _ABSENT)
            if isinstance(default, Default) and default is not _ABSENT:
                given["metadata"] = default.metadata
                if default.factory is not None:
                    given["default_factory"] = default.factory
                else:
                    given["default"] = default.value
            elif default is not _ABSENT:
                given["default"] = default
            columns.append((name, kind, dataclasses.field(**given)))
        shadow: Any = dataclasses.make_dataclass(owner.__name__, columns)
        fields: dict[str, Any] = shadow.__dataclass_fields__
        owner.__dataclass_fields__ = fields
        return fields
