"""The connection against a server that misbehaves: `python3 -m unittest discover -s clients/python/tests`."""

import json
import sys
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).parent.parent))

from escapement import Client, EscapementError, connection  # noqa: E402

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    def answer(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        self.server.requests.append((self.command, self.path, dict(self.headers), body))  # type: ignore[attr-defined]
        answers = self.server.answers  # type: ignore[attr-defined]
        (answers.pop(0) if len(answers) > 1 else answers[0])(self)

    do_GET = do_POST = do_PATCH = do_DELETE = answer

    def log_message(self, *_: Any) -> None:
        pass


def reply(status: int, value: Any, headers: dict[str, str] | None = None) -> Answer:
    def send(handler: Handler) -> None:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        handler.send_response(status)
        for name, text in {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})}.items():
            handler.send_header(name, text)
        handler.end_headers()
        handler.wfile.write(data)

    return send


def hang_up(handler: Handler) -> None:
    handler.connection.close()
    handler.close_connection = True


def cut_off(text: bytes) -> Answer:
    """Sends the beginning of a response and closes the connection."""

    def send(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(text)
        handler.close_connection = True

    return send


class ConnectionTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.requests = []  # type: ignore[attr-defined]
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        connection.FIRST_PAUSE = 0.01
        self.client = Client(f"http://127.0.0.1:{self.server.server_address[1]}/", key="k")

    def tearDown(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answers(self, *answers: Answer) -> list[tuple[str, str, dict[str, str], bytes]]:
        self.server.answers = list(answers)  # type: ignore[attr-defined]
        return self.server.requests  # type: ignore[attr-defined,no-any-return]

    def test_sends_key_query_and_path(self) -> None:
        requests = self.answers(reply(200, {"items": [], "next_cursor": None}))
        self.client.runs.list(status=["failed", "timeout"], limit=5, from_="2026-01-01T00:00:00Z")
        self.client.runs.get("a/b")
        self.assertEqual(requests[0][1], "/api/v1/runs?status=failed%2Ctimeout&from=2026-01-01T00%3A00%3A00Z&limit=5")
        self.assertEqual(requests[0][2]["Authorization"], "Bearer k")
        self.assertEqual(requests[1][1], "/api/v1/runs/a%2Fb")

    def test_repeats_a_create_with_its_key(self) -> None:
        requests = self.answers(hang_up, hang_up, reply(201, {"id": "sch_1"}))
        self.assertEqual(self.client.schedules.create({"name": "x", "every_seconds": 60}), {"id": "sch_1"})
        keys = {headers["Idempotency-Key"] for _, _, headers, _ in requests}
        self.assertEqual((len(requests), len(keys)), (3, 1))

    def test_repeats_no_update(self) -> None:
        requests = self.answers(hang_up)
        with self.assertRaises(EscapementError) as failed:
            self.client.schedules.update("sch_1", {"name": "y"}, if_match=3)
        self.assertEqual(failed.exception.code, "UNREACHABLE")
        self.assertEqual(len(requests), 1)
        self.assertEqual(requests[0][2]["If-Match"], '"3"')

    def test_raises_what_the_server_refuses(self) -> None:
        problem = {
            "status": 429,
            "code": "SESSION_QUEUE_FULL",
            "title": "Full",
            "detail": "The queue is full",
            "request_id": "req_1",
            "run_id": "run_1",
        }
        self.answers(reply(429, problem, {"content-type": "application/problem+json", "retry-after": "7"}))
        with self.assertRaises(EscapementError) as refused:
            self.client.sessions.send("s", {"text": "hi"})
        error = refused.exception
        self.assertEqual((error.status, error.code, error.run_id), (429, "SESSION_QUEUE_FULL", "run_1"))
        self.assertEqual((error.retry_after, str(error)), (7.0, "The queue is full"))

    def test_raises_the_errors_of_tasks(self) -> None:
        self.answers(reply(429, {"error": "queue full", "code": "queue_full", "details": {"taskId": "tsk_1"}}))
        with self.assertRaises(EscapementError) as refused:
            self.client.tasks.submit({"agentId": "a", "action": "click"})
        self.assertEqual((refused.exception.code, refused.exception.run_id), ("QUEUE_FULL", "tsk_1"))

    def test_names_a_server_that_is_another(self) -> None:
        self.answers(reply(200, b"<html>", {"content-type": "text/html"}), reply(404, b"<html>"))
        for _ in range(2):
            with self.assertRaises(EscapementError) as refused:
                self.client.runs.get("run_1")
            self.assertEqual(refused.exception.code, "BAD_ANSWER")

    def test_follows_no_redirect(self) -> None:
        requests = self.answers(reply(302, {}, {"location": "http://127.0.0.1:1/elsewhere"}))
        with self.assertRaises(EscapementError):
            self.client.runs.get("run_1")
        self.assertEqual(len(requests), 1)

    def test_refuses_addresses_and_empty_ids(self) -> None:
        with self.assertRaisesRegex(ValueError, "'localhost:7420' is not the URL of a server"):
            Client("localhost:7420")
        with self.assertRaisesRegex(TypeError, "needs id"):
            self.client.runs.get("")

    def test_resumes_a_stream_behind_the_last_event(self) -> None:
        requests = self.answers(
            cut_off(b'id: 1-0\nevent: run.changed\ndata: {"kind":"run.changed","n":1}\n\nid: 2-0\ndata: {"cut'),
            cut_off(b': beat\n\nevent: reset\ndata: {"reason":"gone"}\n\n'),
        )
        events = self.client.events(kinds=["run.changed"])
        self.assertEqual(next(events), {"kind": "run.changed", "n": 1})
        self.assertEqual(next(events), {"kind": "reset", "reason": "gone"})
        events.close()  # type: ignore[attr-defined]
        self.assertEqual(requests[1][2]["Last-Event-Id"], "1-0")


if __name__ == "__main__":
    unittest.main()
