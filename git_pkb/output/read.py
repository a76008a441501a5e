"""What a reference names, as JSON and as the line that `read` takes again.

In: a `Resolution`. Out: the fields of one JSON object. Invariant: `matches` can be read again as they stand.
"""

from git_pkb.output.jsonout import path_fields
from git_pkb.output.terminal import quote_path
from git_pkb.search.reading import Passage, Place, Resolution, shown_name


def place_text(place: Place) -> str:
    """A place as `read` takes it again: `PATH` or `PATH:10-40`."""
    lines = f":{place.lines[0]}-{place.lines[1]}" if place.lines else ""
    return quote_path(place.path) + lines


def as_json(reference: str, resolution: Resolution) -> dict[str, object]:
    """The JSON of an answer: the passage, or what there is instead of one."""
    passage = resolution.passage
    if passage is not None:
        return {
            "reference": reference,
            **path_fields(passage.path),
            "language": passage.language,
            "lines": list(passage.lines),
            "total_lines": passage.total,
            "name": _name(passage),
            "kind": passage.kind,
            **({"shortened": True} if passage.shortened else {}),
            "text": passage.text.decode("utf-8", "replace"),
        }
    return {
        "reference": reference,
        "message": resolution.message,
        "matches": [
            {
                **path_fields(place.path),
                "lines": list(place.lines) if place.lines else None,
                "name": shown_name(place),
                "kind": place.kind,
            }
            for place in resolution.matches
        ],
        "suggestions": list(resolution.suggestions),
    }


def _name(passage: Passage) -> str:
    return shown_name(Place(passage.path, name=passage.name))
