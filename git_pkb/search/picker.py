"""An interactive search: results while one types, with a preview of the source.

In: a function that answers a question, one that gives the text of a piece. Out: the piece that was picked, or
None. Needs the extra `interactive` (prompt_toolkit). Invariant: typing never waits for a search: each is
answered beside it, one at a time, the latest only; what is shown can control no terminal.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from git_pkb.errors import UsageError
from git_pkb.output.terminal import fit, safe

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples

    from git_pkb.rank.results import FileResult

INSTALL = 'pip install "git-pkb[interactive]"'
_MOST_PREVIEW = 400
_STYLE = {
    "path": "ansimagenta",
    "lines": "ansicyan",
    "chosen": "reverse",
    "dim": "ansibrightblack",
    "status": "reverse",
    "here": "bold",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the list: a piece of a file."""

    path: str
    lines: tuple[int, int]
    title: str
    about: str
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Picked:
    """What was chosen, and whether to open it in the editor."""

    item: Item
    edit: bool


def items_of(files: "Sequence[FileResult]") -> list[Item]:
    """A line for each piece; a file without pieces stands for itself."""
    found = []
    for file in files:
        for symbol in file.symbols:
            title = symbol.breadcrumb or symbol.name or symbol.kind
            about = symbol.summary or symbol.excerpt
            found.append(Item(file.path, symbol.lines, title, about, file.stale))
        if not file.symbols:
            found.append(Item(file.path, (1, 1), "", file.summary, file.stale))
    return found


class Worker:
    """Answers the latest question in a thread of its own; `done` is called there after each answer."""

    def __init__(
        self, answer: Callable[[str], list[Item]], done: Callable[[str, list[Item], str], None]
    ) -> None:
        self._answer, self._done = answer, done
        self._wanted: str | None = None
        self._wake = threading.Condition()
        self._thread = threading.Thread(target=self._run, daemon=True, name="search")
        self._closed = False

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def ask(self, text: str) -> None:
        """Answer this one next; what was asked before and is not begun is forgotten."""
        with self._wake:
            self._wanted = text
            self._wake.notify()

    def close(self) -> None:
        """Stop after what is being answered."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)

    def _run(self) -> None:
        while True:
            with self._wake:
                while self._wanted is None and not self._closed:
                    self._wake.wait()
                if self._closed:
                    return
                text, self._wanted = self._wanted or "", None
            problem = ""
            items: list[Item] = []
            try:
                items = self._answer(text) if text.strip() else []
            except Exception as error:
                problem = str(error) or type(error).__name__
            self._done(text, items, problem)


class Picker:
    """The state of the screen and its keys."""

    def __init__(
        self,
        answer: Callable[[str], list[Item]],
        preview: Callable[[Item], str],
        query: str = "",
        *,
        input: Any = None,
        output: Any = None,
    ) -> None:
        self.items: list[Item] = []
        self.at = 0
        self.status = "type to search"
        self._preview_of = preview
        self._previews: dict[tuple[str, tuple[int, int]], list[str]] = {}
        self._worker = Worker(answer, self._answered)
        self._query = query
        self._build(input, output)

    def run(self) -> Picked | None:
        """Show the screen until something is picked."""
        self._worker.start()
        if self._query:
            self._worker.ask(self._query)
        try:
            found: Picked | None = self._app.run()
        finally:
            self._worker.close()
        return found

    # -- state ----------------------------------------------------------------------------------------

    def _answered(self, text: str, items: list[Item], problem: str) -> None:
        """Called in the worker's thread: hand over to the screen's."""

        def show() -> None:
            if text != self._buffer.text:
                return  # something newer has been typed
            self.items, self.at = items, 0
            self.status = problem or (f"{len(items)} found" if text.strip() else "type to search")
            self._app.invalidate()

        loop = self._app.loop
        if loop is not None and loop.is_running():
            loop.call_soon_threadsafe(show)

    def move(self, by: int) -> None:
        """Move the mark, within the list."""
        if self.items:
            self.at = max(0, min(len(self.items) - 1, self.at + by))

    def _pick(self, *, edit: bool) -> None:
        if self.items:
            self._app.exit(result=Picked(self.items[self.at], edit))

    # -- screen ---------------------------------------------------------------------------------------

    def _build(self, input: Any, output: Any) -> None:
        from prompt_toolkit.application import Application
        from prompt_toolkit.buffer import Buffer
        from prompt_toolkit.document import Document
        from prompt_toolkit.layout import Layout
        from prompt_toolkit.layout.containers import HSplit, VSplit, Window
        from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
        from prompt_toolkit.layout.dimension import Dimension
        from prompt_toolkit.layout.processors import BeforeInput
        from prompt_toolkit.styles import Style

        self._buffer = Buffer(
            document=Document(self._query),
            multiline=False,
            on_text_changed=lambda buffer: self._worker.ask(buffer.text),
        )
        line = Window(BufferControl(self._buffer, input_processors=[BeforeInput("> ")]), height=1)
        self._list = Window(
            FormattedTextControl(self._list_text), wrap_lines=False, width=Dimension(weight=4)
        )
        preview = Window(
            FormattedTextControl(self._preview_text), wrap_lines=False, width=Dimension(weight=5)
        )
        status = Window(FormattedTextControl(self._status_text), height=1, style="class:status")
        middle = VSplit([self._list, Window(width=1, char="│", style="class:dim"), preview])
        self._app: Any = Application(
            layout=Layout(HSplit([line, middle, status]), focused_element=line),
            key_bindings=self._keys(),
            full_screen=True,
            mouse_support=False,
            style=Style.from_dict(_STYLE),
            input=input,
            output=output,
        )

    def _keys(self) -> Any:
        from prompt_toolkit.key_binding import KeyBindings

        keys = KeyBindings()

        def bind(names: Sequence[str], action: Callable[[], None]) -> None:
            for name in names:
                keys.add(name, eager=True)(lambda event: action())  # noqa: ARG005 - its shape is given

        bind(("down", "c-n"), lambda: self.move(1))
        bind(("up", "c-p"), lambda: self.move(-1))
        bind(("pagedown",), lambda: self.move(self._page()))
        bind(("pageup",), lambda: self.move(-self._page()))
        bind(("enter",), lambda: self._pick(edit=False))
        bind(("c-o",), lambda: self._pick(edit=True))
        bind(("c-c", "c-g", "c-d"), lambda: self._app.exit(result=None))
        keys.add("escape")(lambda event: event.app.exit(result=None))
        return keys

    def _page(self) -> int:
        info = self._list.render_info
        return max(1, info.window_height - 1) if info else 10

    def _width(self, window: Any) -> int:
        info = window.render_info
        return info.window_width if info else 60

    def _list_text(self) -> "StyleAndTextTuples":
        rows = self._page() + 1
        first = max(0, min(self.at - rows // 2, len(self.items) - rows))
        width = self._width(self._list)
        parts: StyleAndTextTuples = []
        for number in range(first, min(len(self.items), first + rows)):
            item = self.items[number]
            chosen = "class:chosen " if number == self.at else ""
            place = f"{item.path}:{item.lines[0]}" + (" stale" if item.stale else "")
            place = fit(safe(place), width)
            title = fit(safe(item.title or item.about), max(0, width - len(place) - 2))
            parts += [(f"{chosen}class:path", place), (chosen, f"  {title}\n")]
        return parts

    def _preview_text(self) -> "StyleAndTextTuples":
        if not self.items:
            return []
        item = self.items[self.at]
        key = (item.path, item.lines)
        lines = self._previews.get(key)
        if lines is None:
            text = self._preview_of(item)
            lines = [safe(line.expandtabs(4)) for line in text.split("\n")[:_MOST_PREVIEW]]
            self._previews[key] = lines
        parts: StyleAndTextTuples = [("class:here", safe(item.title or item.path) + "\n")]
        if item.about and item.about.strip() not in lines[:1]:
            parts.append(("class:dim", safe(item.about) + "\n"))
        digits = len(str(item.lines[0] + len(lines)))
        for number, line in enumerate(lines, item.lines[0]):
            parts += [("class:lines", f"{number:>{digits}} "), ("", line + "\n")]
        return parts

    def _status_text(self) -> str:
        return f" {safe(self.status)}   enter: print   ctrl-o: edit   arrows: choose   esc: leave"


def check() -> None:
    """Raise UsageError when the extra is not installed."""
    try:
        import prompt_toolkit  # noqa: F401 - only whether it is there
    except ImportError:
        raise UsageError(
            "the interactive search needs the extra `interactive`", f"install it: {INSTALL}"
        ) from None
