"""Who may ask the server, how much they may send, and what it answers."""

import http.client
import json
import re
import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sparselaw.explore import session, web
from sparselaw.explore.serve import one_thread_from_here_on, page_files
from sparselaw.explore.uploads import Uploads
from sparselaw.explore.web import allowed_host

POINT = "alpha1=1&alpha2=0.3"


def ask(served, path, *, method="GET", body=None, headers=None, token="a-token-for-tests"):
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    connection.request(method, f"/{token}/{path}", body=body, headers=headers or {})
    response = connection.getresponse()
    return response, response.read()


def values(served, path):
    response, body = ask(served, path)
    return response.status, json.loads(body)


def test_the_page_comes_with_a_strict_policy(served):
    response, body = ask(served, "")
    assert response.status == 200
    assert b"<title>sparselaw explore</title>" in body
    policy = response.getheader("Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert response.getheader("X-Content-Type-Options") == "nosniff"
    assert response.getheader("Referrer-Policy") == "no-referrer"
    assert response.getheader("Server") is None or "uvicorn" in response.getheader("Server")


def test_the_page_names_no_other_place():
    """No address but that of the SVG namespace, in any file of the page."""
    for name, (content, _) in page_files().items():
        found = set(re.findall(rb"(?:https?:)?//[a-z0-9.]+\.[a-z]+[^\s\"']*", content)) - {
            b"http://www.w3.org/2000/svg"
        }
        assert found <= {b"https://github.com/leeoniya/uPlot"}, name


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:80"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_foreign_hosts_and_origins_are_refused(served, headers, method):
    path = (
        f"api/phase?{POINT}" if method == "GET" else f"api/surface/simulate?{POINT}&sim_N=4&sim_D=50&seeds=1"
    )
    response, body = ask(served, path, method=method, headers=headers)
    assert response.status == 403
    assert b"alpha" not in body


def test_own_names_and_origin_pass(served):
    for host in (f"127.0.0.1:{served.port}", f"localhost:{served.port}"):
        response, _ = ask(served, f"api/phase?{POINT}", headers={"Host": host, "Origin": f"http://{host}"})
        assert response.status == 200


@pytest.mark.parametrize("token", ["", "x", "a-token-for-test", "a-token-for-tests2", "%2e%2e"])
def test_without_the_token_there_is_nothing(served, token):
    for path in ("", f"api/phase?{POINT}", "main.js"):
        response, body = ask(served, path, token=token)
        assert response.status == 403
        assert b"sparselaw explore" in body


def test_a_host_that_is_a_number_cannot_be_bent():
    assert allowed_host("192.168.1.7", "0.0.0.0")
    assert allowed_host("192.168.1.7", "192.168.1.7")
    assert not allowed_host("192.168.1.7", "127.0.0.1")
    assert not allowed_host("evil.example", "0.0.0.0")


@pytest.mark.parametrize(
    "path",
    [
        "../__init__.py",
        "..%2f__init__.py",
        "%2e%2e/session.py",
        "/etc/passwd",
        "vendor/../../session.py",
        "vendor",
        "nothing",
    ],
)
def test_no_path_leads_out_of_the_page(served, path):
    response, body = ask(served, path)
    assert response.status in (403, 404)
    assert b"import" not in body
    assert b"root:" not in body


def test_methods_that_change_nothing_here_are_refused(served):
    for method in ("PUT", "DELETE", "PATCH"):
        assert ask(served, "api/phase", method=method)[0].status == 405


def test_a_body_over_the_limit_is_refused_by_what_it_says(served, monkeypatch):
    monkeypatch.setattr(web, "LARGEST_BODY", 1000)
    path = f"api/surface/simulate?{POINT}&sim_N=4&sim_D=50&seeds=1"
    response, body = ask(served, path, method="POST", headers={"Content-Length": "4001"})
    assert response.status == 413
    assert json.loads(body)["name"] == "upload"


def test_a_body_over_the_limit_is_refused_by_what_arrives(served, monkeypatch):
    monkeypatch.setattr(web, "LARGEST_BODY", 1000)
    path = f"api/surface/simulate?{POINT}&sim_N=4&sim_D=50&seeds=1"
    response, body = ask(
        served, path, method="POST", body=iter([b"x" * 600] * 3)
    )  # chunked: no length is said
    assert response.status == 413
    assert json.loads(body)["name"] == "upload"


def test_values_are_the_library_s_own(served):
    from sparselaw.inputs import SparseInputs

    status, found = values(served, f"api/phase?{POINT}")
    law = SparseInputs(alpha1=1.0, alpha2=0.3).exponents
    assert status == 200
    assert [found[name] for name in ("alpha_N", "alpha_D", "alpha_C", "xi_crit")] == [
        law.alpha_N,
        law.alpha_D,
        law.alpha_C,
        law.xi_crit,
    ]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("alpha1=-2&alpha2=0.3", "alpha1"),
        ("alpha1=1&alpha2=-2.5", "alpha2"),
        ("alpha1=one&alpha2=0.3", "alpha1"),
        ("alpha1=nan&alpha2=0.3", "alpha1"),
        ("alpha2=0.3", "alpha1"),
        (f"{POINT}&inputs=wet", "inputs"),
        (f"{POINT}&dimension=-3", "dimension"),
        ("alpha1=0&alpha2=0.3&dimension=inf", "dimension"),
    ],
)
def test_the_state_is_refused_by_the_library_s_own_line(served, query, name):
    status, found = values(served, f"api/phase?{query}")
    assert status == 200
    assert found["name"] == name
    assert found["refused"].startswith(f"{name}=")
    assert "; " in found["refused"]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("along=up", "along"),
        ("D=1,2,3,4,5", "D"),
        ("D=0", "D"),
        ("along=D&N=1.5", "N"),
        ("ridge=-1", "ridge"),
        ("noise=x", "noise"),
        ("low=100&high=50", "high"),
        ("high=1e300", "high"),
    ],
)
def test_a_surface_that_cannot_be_is_refused(served, query, name):
    status, found = values(served, f"api/surface?{POINT}&{query}")
    assert (status, found["name"]) == (200, name)
    assert found["refused"].startswith(f"{name}=")


def test_a_failure_of_ours_is_told_and_no_question_is_unknown_twice(served, monkeypatch):
    from sparselaw.explore import views

    def broken(call):
        return {}[call.text("alpha1")]

    monkeypatch.setitem(views.VALUES, "broken", broken)
    status, found = values(served, "api/broken?alpha1=1")
    assert (status, found["refused"]) == (200, "a failure of ours: KeyError: '1'")
    assert ask(served, "api/nothing")[0].status == 404
    assert ask(served, "api/nothing", method="POST")[0].status == 404


def lines_of(served, query):
    response, body = ask(served, f"api/surface/simulate?{query}", method="POST")
    assert response.getheader("Content-Type") == "application/x-ndjson"
    return [json.loads(line) for line in body.splitlines()]


def test_trials_stream_as_the_library_would_run_them(served):
    import sparselaw as sl

    lines = lines_of(served, f"{POINT}&sim_N=4,8&sim_D=60&seeds=3")
    assert lines[0]["runs"] == 6
    assert lines[-1] == {"end": "done"}
    last = {line["cell"]["N"]: line["cell"] for line in lines[1:-1]}
    runs = sl.simulate(sl.SparseInputs(alpha1=1.0, alpha2=0.3), N=[4, 8], D=60, seeds=3, workers=1)
    for N, cell in last.items():
        losses = runs[runs["N"] == N]["loss"]
        assert cell["seeds"] == 3
        assert cell["mean"] == pytest.approx(losses.mean(), rel=1e-12)
        assert cell["low"] < cell["mean"] < cell["high"]


def test_a_stream_that_cannot_be_is_refused_in_its_last_line(served):
    (line,) = lines_of(served, f"{POINT}&sim_N=4&sim_D=0&seeds=3")
    assert (line["end"], line["name"]) == ("refused", "D")
    (line,) = lines_of(served, f"{POINT}&sim_N=1:1000:900&sim_D=60&seeds=90")
    assert (line["end"], line["name"]) == ("refused", "seeds")


def test_only_a_few_may_run_at_once(served, monkeypatch):
    monkeypatch.setattr(session, "MOST_AT_ONCE", 0)
    (line,) = lines_of(served, f"{POINT}&sim_N=4&sim_D=60&seeds=1")
    assert (line["end"], line["name"]) == ("refused", "running")


def test_a_reader_that_goes_away_stops_the_work(served, monkeypatch):
    """The stream's stop is set when the connection closes, while the work still goes on."""
    from sparselaw.explore import views

    seen, stopped = threading.Event(), threading.Event()

    def endless(call):
        yield {"line": 1}
        seen.set()
        if call.stop.wait(60):
            stopped.set()

    monkeypatch.setitem(views.STREAMS, "endless", endless)
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    connection.request("POST", "/a-token-for-tests/api/endless")
    connection.getresponse().readline()
    assert seen.wait(60)
    connection.sock.close()
    connection.close()
    assert stopped.wait(60)


def test_answers_use_one_thread_until_the_server_ends():
    def threads():
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        before = threads()
        back = one_thread_from_here_on()
        assert set(threads()) == {1}
        back()
        assert threads() == before
        assert before


def test_uploads_lie_in_a_folder_that_goes_away():
    uploads = Uploads()
    keys = [uploads.keep("../../../home/you/runs.csv", b"N,D,loss\n") for _ in range(9)]
    path = uploads.find(keys[-1])
    assert path.read_bytes() == b"N,D,loss\n"
    assert path.name == f"{keys[-1]}.csv"
    with pytest.raises(ValueError, match="drop the file again"):
        uploads.find(keys[0])
    for key in ("../x", "/etc/passwd", ""):
        with pytest.raises(ValueError, match="drop the file again"):
            uploads.find(key)
    uploads.close()
    assert not path.parent.exists()
