"""The widget: in a real kernel, and its page in a real browser with the kernel's part played here."""

import threading
import time
from concurrent.futures import Future

import psutil
import pytest

from conftest import Watched
from sparselaw.explore.widget import Explorer, page_modules

POINT = {"alpha1": "1", "alpha2": "0.3"}


@pytest.fixture(scope="module")
def kernel():
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def published(client, wanted):
    """Messages of the kernel until one is wanted."""
    found = []
    while not found or not wanted(found[-1]):
        found.append(client.get_iopub_msg(timeout=60))
    return found


def custom(client, comm, message, wanted):
    """Send a widget's message, as a notebook does; the lines of the answer."""
    data = {"method": "custom", "content": message}
    client.shell_channel.send(client.session.msg("comm_msg", {"comm_id": comm, "data": data}))

    def answer(found):
        content = found["content"].get("data", {}).get("content", {})
        return content if found["msg_type"] == "comm_msg" and content.get("id") == message["id"] else None

    messages = published(client, lambda m: answer(m) is not None and wanted(answer(m)["line"]))
    return [answer(m)["line"] for m in messages if answer(m) is not None]


def test_a_kernel_shows_the_widget_and_answers_it(kernel):
    kernel.execute("import sparselaw as sl\nw = sl.explore(alpha1=0.5)\nw")
    messages = published(kernel, lambda m: m["msg_type"] in ("execute_result", "display_data", "error"))
    shown = messages[-1]["content"]
    assert "application/vnd.jupyter.widget-view+json" in shown.get("data", {}), shown
    model = shown["data"]["application/vnd.jupyter.widget-view+json"]["model_id"]
    (opened,) = [
        m["content"]
        for m in messages
        if m["content"].get("comm_id") == model and "target_name" in m["content"]
    ]
    state = opened["data"]["state"]
    assert "render" in state["_esm"]
    assert ".sparselaw" in state["_css"]
    assert state["modules"][-1][0] == "main.js"
    assert state["state"] == {"alpha1": "0.5"}

    (line,) = custom(kernel, model, {"id": "1", "ask": "values", "name": "phase", "params": POINT}, bool)
    assert line["alpha_N"] == pytest.approx(2.3)
    (line,) = custom(
        kernel, model, {"id": "2", "ask": "values", "name": "phase", "params": POINT | {"alpha1": "-2"}}, bool
    )
    assert line["refused"].startswith("alpha1=-2: must be at least -1")
    sizes = {"sim_N": "4", "sim_D": "0", "seeds": "2"}
    lines = custom(
        kernel,
        model,
        {"id": "3", "ask": "lines", "name": "surface/simulate", "params": POINT | sizes},
        lambda line: "end" in line,
    )
    assert lines[-1]["name"] == "D"


class Process:
    """Plays the part of the other process: what is asked waits until the test ends it."""

    def __init__(self):
        self.asked = []

    def submit(self, _function, *args):
        self.asked.append((args, Future()))
        return self.asked[-1][1]

    def abort(self):
        pass


def test_full_curves_come_from_a_process_of_their_own(monkeypatch):
    """A sketch does not wait for them, a cancelled one says nothing, and one that failed is made here."""
    widget, heard, process = Explorer(), [], Process()
    monkeypatch.setattr(widget.session.long, "prepare", lambda: None)
    monkeypatch.setattr(widget.session.long, "_pool", process)
    monkeypatch.setattr(widget, "send", heard.append)
    given = POINT | {"D": "60", "low": "4", "high": "30"}

    def ask(key, **more):
        widget._hear(widget, {"id": key, "ask": "values", "name": "surface", "params": given | more}, [])

    def wait(count):
        while len(heard) < count:
            time.sleep(0.01)

    ask("full")
    ask("sketch", surface="leading", draft="yes")
    wait(1)
    assert [line["id"] for line in heard] == ["sketch"]
    process.asked[0][1].set_result({"chart": "there"})
    assert heard[-1] == {"id": "full", "line": {"chart": "there"}}

    ask("late")
    widget._hear(widget, {"id": "late", "ask": "cancel"}, [])
    assert process.asked[1][1].cancelled()
    assert len(heard) == 2

    ask("broken", surface="leading", along="D", N="8")
    process.asked[2][1].set_exception(RuntimeError("the process died"))
    assert heard[-1]["id"] == "broken"
    assert heard[-1]["line"]["chart"]["series"]
    assert widget._asked == {}
    widget.close()


@pytest.mark.slow
def test_a_kernel_that_is_shut_down_leaves_no_process():
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    code = "import os, sparselaw as sl\nw = sl.explore()\nw.session.long.prepare()\nos.getpid()"
    client.execute(code)
    shown = published(client, lambda m: m["msg_type"] in ("execute_result", "error"))[-1]
    kernel = psutil.Process(int(shown["content"]["data"]["text/plain"]))
    others = kernel.children(recursive=True)
    assert others
    manager.shutdown_kernel(now=False)
    _, alive = psutil.wait_procs([kernel, *others], timeout=60)
    client.stop_channels()
    assert alive == []


def test_modules_come_after_what_they_import():
    seen = set()
    for name, source in page_modules():
        needed = {part.split('"')[0] for part in source.split('from "./')[1:]}
        assert needed <= seen, name
        seen.add(name)
    assert "main.js" in seen
    assert "page.js" not in seen  # the address bar and HTTP are the page's alone


RENDER = """async ([esm, modules]) => {
  const listeners = {};
  const values = { modules, state: { alpha1: "0.5" } };
  window.model = {
    get: (name) => values[name],
    set(name, value) { values[name] = value; },
    save_changes() { window.saved = values.state; },
    on(name, listener) { (listeners[name] ??= []).push(listener); },
    async send(message) {
      const answers = await window.kernel(message);
      for (const answer of answers) for (const hear of listeners["msg:custom"]) hear(answer);
    },
  };
  const widget = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
  document.body.id = "explore";
  await widget.default.render({ model: window.model, el: document.body });
}"""


def test_the_widget_s_page_talks_to_the_kernel(windows):
    widget, heard, ended = Explorer(), [], threading.Event()

    def send(content):
        heard.append(content)
        if "end" in content["line"] or message_of_values:
            ended.set()

    widget.send = send
    message_of_values = False

    def kernel(message):
        nonlocal message_of_values
        heard.clear()
        ended.clear()
        message_of_values = message["ask"] == "values"
        widget._hear(widget, message, [])
        assert ended.wait(60)
        return list(heard)

    watched = Watched(windows(viewport={"width": 800, "height": 700}), "about:blank")
    page = watched.page
    page.expose_function("kernel", kernel)
    page.goto("about:blank")
    page.add_style_tag(content=Explorer._css)
    page.evaluate(RENDER, [widget._esm, widget.modules])
    watched.settled("alpha1=0.5")
    assert page.inner_text('[data-quantity="alpha_N"]') == "1.8"
    page.focus(".diagram-frame")
    page.keyboard.press("ArrowRight")
    watched.settled("alpha1=0.55")
    assert page.evaluate("window.saved") == {"alpha1": "0.55"}
    page.get_by_role("button", name="Loss surface").click()
    page.wait_for_selector(".estimate:has-text('runs in')")
    assert watched.said == []
    assert watched.foreign == []
    watched.page.close()
    widget.close()
