"""`git pkb map`: the layout, the page, and the page in a real browser."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from git_pkb.output.maphtml import page
from git_pkb.search.mapping import Map, MappedFile, Point, groups

np = pytest.importorskip("numpy")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
HOSTILE = '</script><img src=x onerror="document.title=1">\u2028.py'


@pytest.fixture
def project(repo):
    """Three themes in two folders and two languages, and names that would like to be markup."""
    files = {}
    for n in range(6):
        files[f"net/upload{n}.py"] = (
            f"def upload_file_{n}(session):\n    # a file goes over the network, with retries\n"
            "    return session\n"
        )
        files[f"paint/color{n}.js"] = (
            f"function mixColor{n}(red, green) {{\n  return red + green; // a hue\n}}\n"
        )
    files[f"odd/{HOSTILE.replace('/', '_')}"] = (
        "def quiet_one():\n    '<b>bold</b> & <script>alert(1)</script>'\n"
    )
    repo.commit(files)
    return repo


def data_of(html):
    """The JSON inside a page."""
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1]
    )


@pytest.mark.usefixtures("project")
def test_the_page_holds_every_piece(project, pkb):
    """One file with path, lines, title and place of each piece; nothing else is written."""
    target = project.path / "map.html"
    ran = pkb("map", "--html", str(target))
    assert ran.out == ""
    assert "wrote" in ran.err
    data = data_of(target.read_text())
    assert len(data["points"]) == 13
    assert {file[0] for file in data["files"]} >= {"net/upload0.py", "paint/color0.js"}
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y, *_ in data["points"])
    assert data["groups"]["folder"] == ["net", "paint", "odd"]
    assert sorted(data["groups"]["language"]) == ["javascript", "python"]
    assert project.status() == "?? map.html"


@pytest.mark.usefixtures("project")
def test_the_same_index_gives_the_same_page(pkb):
    """Byte for byte, on stdout as in a file."""
    first = pkb("map", "--html", "-").out
    assert pkb("map", "--html", "-").out == first
    assert first.startswith("<!doctype html>")


@pytest.mark.usefixtures("project")
def test_what_is_alike_lies_together(pkb):
    """Pieces of one theme are nearer to each other than to those of another."""
    data = data_of(pkb("map", "--html", "-").out)
    places = {}
    for x, y, file, *_ in data["points"]:
        places.setdefault(data["files"][file][0].split("/")[0], []).append((x, y))
    net, paint = np.array(places["net"]), np.array(places["paint"])
    within = np.linalg.norm(net - net.mean(axis=0), axis=1).mean()
    assert np.linalg.norm(net.mean(axis=0) - paint.mean(axis=0)) > 2 * within


@pytest.mark.usefixtures("project")
def test_a_page_of_fewer_pieces_says_what_is_missing(pkb):
    """`--max-pieces` takes an even sample and counts the rest."""
    html = pkb("map", "--html", "-", "--max-pieces", "5").out
    assert len(data_of(html)["points"]) == 5
    assert "8 not shown" in html


@pytest.mark.usefixtures("project")
def test_binary_vectors_can_be_mapped(project, pkb):
    """Sign bits have neighbours too."""
    project.git("config", "pkb.index.dtype", "binary")
    assert len(data_of(pkb("map", "--html", "-").out)["points"]) == 13


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_repository_of_few_pieces_is_a_map_too(repo, pkb, count):
    """Down to a single point."""
    repo.commit({f"f{n}.py": f"def function_{n}(): ...\n" for n in range(count)})
    assert len(data_of(pkb("map", "--html", "-").out)["points"]) == count


def test_an_index_without_vectors_has_no_map(repo, pkb):
    """Exit 3 and what to do, for the provider `none` and for an empty repository."""
    repo.commit({"a.py": "x = 1\n"})
    repo.git("config", "pkb.embedding.provider", "none")
    ran = pkb("map", "--html", "-", code=3)
    assert "nothing to map" in ran.err
    assert ran.out == ""


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 2),
        (("--html", "-", "--max-pieces", "0"), 2),
        (("--html", "-", "--by", "size"), 2),
        (("--html", "no/such/folder/map.html"), 74),
        (("--html", "."), 74),
    ],
)
def test_what_cannot_be_done_is_reported(project, pkb, arguments, code):
    """Wrong usage and places that cannot be written; no half-written file stays."""
    assert pkb("map", *arguments, code=code).err.startswith("error: ")
    assert not list(project.path.glob("*.tmp"))


def test_no_name_or_text_becomes_markup():
    """The data block holds no `<`, and the template's own marks in a name are not replaced."""
    of = Map(
        "<b>@data@</b>",
        (MappedFile("</script><script>alert(1)</script>", "python", "a&b"),),
        (Point(0.5, 0.5, 0, (1, 2), "<!--\u2028@name@", "]]><img src=x>\udce9"),),
        0,
    )
    html = page(of)
    block = html.split('id="data">', 1)[1].split("</script>", 1)[0]
    assert "<" not in block
    assert "&" not in block
    assert data_of(html)["points"][0][5] == "<!--\u2028@name@"
    assert "<h1>&lt;b&gt;@data@&lt;/b&gt;</h1>" in html
    assert html.count("<script") == 2


def test_the_page_asks_for_nothing_from_anywhere():
    """No address is in the page, and its policy forbids loading."""
    html = page(Map("x", (MappedFile("a", "python", ""),), (Point(0, 0, 0, (1, 1), "", ""),), 0))
    assert "default-src 'none'" in html
    assert not re.search(r"https?://|url\(|src=|@import|<link", html)


def test_groups_split_the_largest_folder_first():
    """At most ten groups; the small folders of a large one stay under its name."""
    paths = [f"src/part{n:02}/{m}.py" for n in range(30) for m in range(30 - n)] + ["docs/a.md", "top.md"]
    found = groups(paths)
    assert len(set(found.values())) <= 10
    assert found["src/part00/0.py"] == "src/part00"
    assert found["src/part29/0.py"] == "src"
    assert found["docs/a.md"] == "docs"
    assert found["top.md"] == ""
    assert groups(["a/b/c/x.py", "a/b/d/y.py"]) == {"a/b/c/x.py": "a/b/c", "a/b/d/y.py": "a/b/d"}


class Browser:
    """A headless Chromium, spoken to through its debugging pipe."""

    def __init__(self, profile: Path) -> None:
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        flags = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--hide-scrollbars", "--window-size=1200,800", f"--user-data-dir={profile}",
            "--remote-debugging-pipe",
        ]  # fmt: skip

        def place_pipes() -> None:  # Chromium reads commands from 3 and writes answers to 4
            high = [os.dup(to_read), os.dup(to_write)]
            while min(high) < 10:
                high = [os.dup(high[0]), os.dup(high[1])]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(
            [CHROMIUM, *flags], preexec_fn=place_pipes, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self._buffer = b""
        self._number = 0
        self._session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.errors: list[str] = []
        self.call("Runtime.enable")
        self.call("Log.enable")

    def call(self, method, **parameters):
        """Send one command and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._buffer:
                data = os.read(self._read, 1 << 20)
                if not data:
                    pytest.fail("the browser ended")
                self._buffer += data
            raw, self._buffer = self._buffer.split(b"\0", 1)
            answer = json.loads(raw)
            level = answer.get("params", {}).get("entry", {}).get("level")
            if answer.get("method") == "Runtime.exceptionThrown" or level == "error":
                self.errors.append(json.dumps(answer["params"]))
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, address):
        """Go to an address and wait until the page's script has run."""
        self.call("Page.navigate", url=address)
        for _ in range(200):
            if self.value("document.body && document.body.dataset.ready") == "yes":
                return
            time.sleep(0.05)
        pytest.fail(f"the page did not start: {self.errors}")

    def value(self, expression):
        """What an expression gives in the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def type(self, text):
        """Type characters, one key after the other."""
        for character in text:
            self.call("Input.dispatchKeyEvent", type="keyDown", text=character)
            self.call("Input.dispatchKeyEvent", type="keyUp")

    def close(self):
        """End the browser."""
        with contextlib.suppress(OSError):
            os.close(self._write)
        self._process.terminate()
        self._process.wait(timeout=20)
        os.close(self._read)


@pytest.fixture
def browser(tmp_path):
    """A browser of its own for a test."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    found = Browser(tmp_path / "profile")
    yield found
    found.close()


@pytest.mark.usefixtures("project")
@pytest.mark.usefixtures("project")
def test_in_a_browser_the_map_can_be_searched_hovered_and_filtered(pkb, browser, tmp_path):
    """From file://: points are drawn, typing finds, hovering tells, the legend hides; no name runs."""
    target = tmp_path / "map.html"
    pkb("map", "--html", str(target))
    browser.open(target.as_uri())
    assert browser.value("document.title") == "Map of repo"
    assert browser.value("document.querySelectorAll('#legend button').length") == 3

    drawn = (
        "(() => { const c = document.getElementById('map'); "
        "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0; "
        "for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; })()"
    )
    before = browser.value(drawn)
    assert before > 300, "nothing was drawn"

    browser.value("document.getElementById('query').focus()")
    browser.type("mixcolor3")
    assert browser.value("document.getElementById('count').textContent") == "1 piece"
    assert browser.value("document.querySelector('#found small').textContent") == "paint/color3.js:1-3"
    assert browser.value("location.hash") == "#q=mixcolor3"
    browser.type("zzz")
    assert browser.value("document.getElementById('count').textContent") == "0 pieces"
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="Escape")
    assert browser.value("document.querySelectorAll('#found li').length") == 0

    place = "(() => { const [x, y] = toScreen(points[0]); return [x, y]; })()"
    x, y = browser.value(place)
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    assert browser.value("document.getElementById('tip').hidden") is False
    assert "net/upload0.py:1-3" in browser.value("document.getElementById('tip').textContent")

    browser.value("document.querySelector('#legend button').click()")
    browser.value("paint()")
    assert browser.value(drawn) < before
    browser.value("document.querySelectorAll('#by button')[1].click()")
    assert browser.value("document.querySelectorAll('#legend button').length") == 2

    assert browser.value("document.querySelectorAll('img, b:not(#legend b)').length") == 0
    assert browser.value("document.title") == "Map of repo"
    assert browser.errors == []


@pytest.mark.usefixtures("project")
def test_an_address_with_a_question_opens_with_its_answer(pkb, browser, tmp_path):
    """`#q=…` is a link to a search; one that is not well formed does no harm."""
    target = tmp_path / "map.html"
    pkb("map", "--html", str(target))
    browser.open(target.as_uri() + "#q=quiet_one")
    assert browser.value("document.getElementById('count').textContent") == "1 piece"
    assert "</script>" in browser.value("document.querySelector('#found small').textContent").replace(
        "_", "/"
    )
    browser.value("location.hash = '#q=%E0%A4%A'")
    browser.value("fromAddress()")
    assert browser.value("document.getElementById('count').textContent") == "0 pieces"
    assert browser.errors == []
