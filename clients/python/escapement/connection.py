"""Requests, retries, errors and the stream of events."""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any, TypeAlias

DEFAULT_TIMEOUT = 30.0
FIRST_PAUSE = 0.2
MAX_PAUSE = 10.0
# The server sends a heartbeat every 15 seconds, so a connection that is silent for longer is dead.
SILENCE = 45.0

# Connection errors and time-outs are OSErrors; a response that is cut off is an HTTPException.
NETWORK_ERRORS = (OSError, http.client.HTTPException)

Headers: TypeAlias = "Message[str, str]"


class EscapementError(Exception):
    """A failed call. A call that the server rejected has changed nothing except the run in `run_id`."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        request_id: str | None = None,
        errors: list[dict[str, Any]] | None = None,
        retry_after: float | None = None,
        run_id: str | None = None,
        details: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        super().__init__(message)
        #: Stable, for programs: an error code of the server, or `UNREACHABLE` or `BAD_ANSWER` of this client.
        self.code = code
        #: The HTTP status; None if there was no response.
        self.status = status
        #: Identifies the request in the log of the server.
        self.request_id = request_id
        #: The invalid fields of the input, each with a JSON pointer.
        self.errors = errors or []
        #: When to retry, in seconds; None if the server did not say.
        self.retry_after = retry_after
        #: The run that records the rejected request.
        self.run_id = run_id
        self.details = details or {}
        #: The key of the failed create call; a repeated call with it creates the object at most once.
        self.idempotency_key = idempotency_key


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would send the key to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Connection:
    """Sends the requests of a client."""

    def __init__(self, url: str, key: str | None, retries: int) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(
                f"url {url!r} is not the URL of a server; use an http or https URL, such as http://127.0.0.1:7420"
            )
        self._url = url.rstrip("/")
        self._key = key
        self._retries = retries
        self._opener = urllib.request.build_opener(_NoRedirect)

    def call(
        self,
        method: str,
        path: str,
        *,
        path_values: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        creates: bool = False,
        idempotency_key: str | None = None,
        if_match: int | None = None,
        also: tuple[int, ...] = (),
        timeout: float | None = None,
    ) -> Any:
        """Sends one request and returns the JSON of the response; retries network failures where that is safe."""
        key = (idempotency_key or uuid.uuid4().hex) if creates else None
        headers = {"Accept": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        if if_match is not None:
            headers["If-Match"] = f'"{if_match}"'
        if body is not None:
            headers["Content-Type"] = "application/json"
        target = _target(path, path_values or {}, query or {})
        data = None if body is None else json.dumps(body).encode()
        request = self._request(method, target, headers, data)
        wait = float((query or {}).get("wait") or 0)
        limit = DEFAULT_TIMEOUT + wait if timeout is None else timeout
        status, response_headers, raw = self._send(request, limit, method == "GET" or creates, key)
        if status >= 300 and status not in also:
            raise _error_of(status, response_headers, raw, target, key)
        if status == 204:
            return None
        try:
            return json.loads(raw)
        except ValueError as cause:
            raise EscapementError(
                "The response cannot be read: it is not JSON, or it was cut off",
                code="BAD_ANSWER",
                status=status,
                request_id=response_headers.get("x-request-id"),
                idempotency_key=key,
            ) from cause

    def stream(
        self, path: str, query: Mapping[str, Any], last_id: str, on_open: Callable[[], None]
    ) -> Iterator[dict[str, Any]]:
        """Yields events; reconnects after interruptions and resumes after the last event that was yielded."""
        target = _target(path, {}, query)
        opened, failures = False, 0
        while True:
            headers = {"Accept": "text/event-stream"}
            if last_id:
                headers["Last-Event-ID"] = last_id
            request = self._request("GET", target, headers, None)
            try:
                with self._opener.open(request, timeout=SILENCE) as response:
                    opened, failures = True, 0
                    on_open()
                    for event, data, last in read_messages(response, last_id):
                        last_id = last
                        value: dict[str, Any] = json.loads(data)
                        yield {"kind": "reset", **value} if event == "reset" else value
            except urllib.error.HTTPError as refused:
                with refused:
                    raw = refused.read()
                error = _error_of(refused.code, refused.headers, raw, target, None)
                if not opened or refused.code < 500:
                    raise error from None
            except NETWORK_ERRORS as cause:
                if not opened and failures >= self._retries:
                    raise self._unreachable(cause, None) from cause
            failures += 1
            time.sleep(_pause(failures))

    def _request(self, method: str, target: str, headers: dict[str, str], data: bytes | None) -> urllib.request.Request:
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        return urllib.request.Request(self._url + target, data=data, headers=headers, method=method)

    def _send(
        self, request: urllib.request.Request, timeout: float, repeatable: bool, key: str | None
    ) -> tuple[int, Headers, bytes]:
        failures = 0
        while True:
            try:
                with self._opener.open(request, timeout=timeout) as response:
                    return response.status, response.headers, response.read()
            except urllib.error.HTTPError as refused:
                with refused:
                    return refused.code, refused.headers, refused.read()
            except NETWORK_ERRORS as cause:
                failures += 1
                if not repeatable or failures > self._retries:
                    raise self._unreachable(cause, key) from cause
                time.sleep(_pause(failures))

    def _unreachable(self, cause: BaseException, key: str | None) -> EscapementError:
        reason = getattr(cause, "reason", cause)
        return EscapementError(f"{self._url} cannot be reached: {reason}", code="UNREACHABLE", idempotency_key=key)


def read_messages(lines: Iterable[bytes], last_id: str) -> Iterator[tuple[str, str, str]]:
    """The messages of a stream of server-sent events: event, data, and the id to resume from."""
    event = "message"
    data: list[str] = []
    for raw in lines:
        line = raw.decode().rstrip("\r\n")
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line == "":
            if data:
                yield event, "\n".join(data), last_id
            event, data = "message", []
        elif name == "data":
            data.append(value)
        elif name == "event":
            event = value
        elif name == "id":
            last_id = value


def _target(path: str, values: Mapping[str, str], query: Mapping[str, Any]) -> str:
    for name, value in values.items():
        if not isinstance(value, str) or value == "":
            raise TypeError(f"{path} needs {name}: a non-empty text")
        path = path.replace(f":{name}", urllib.parse.quote(value, safe=""), 1)
    given = {name: _query_text(value) for name, value in query.items() if value is not None}
    return f"{path}?{urllib.parse.urlencode(given)}" if given else path


def _query_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return ",".join(str(one) for one in value)
    return json.dumps(value)


def _pause(failures: int) -> float:
    longest: float = FIRST_PAUSE * 2 ** (failures - 1)
    return min(MAX_PAUSE, longest) * random.uniform(0.75, 1.25)


# Codes of the tasks API that differ from those of the rest.
_TASK_CODES = {"error": "VALIDATION", "missing_token": "UNAUTHENTICATED", "bad_token": "UNAUTHENTICATED"}


def _error_of(
    status: int, headers: Headers, raw: bytes, target: str, key: str | None
) -> EscapementError:
    try:
        problem = json.loads(raw)
    except ValueError:
        problem = None
    retry_after = _retry_after(headers.get("retry-after"))
    if isinstance(problem, dict) and "code" in problem and "detail" in problem:
        return EscapementError(
            problem["detail"],
            code=problem["code"],
            status=status,
            request_id=problem.get("request_id"),
            errors=problem.get("errors"),
            retry_after=retry_after,
            run_id=problem.get("run_id"),
            details=problem.get("details"),
            idempotency_key=key,
        )
    is_task = target.startswith(("/tasks", "/scheduler/stats"))
    if is_task and isinstance(problem, dict) and "code" in problem and "error" in problem:
        details = problem.get("details") or {}
        code = "BODY_TOO_LARGE" if status == 413 else _TASK_CODES.get(problem["code"], problem["code"].upper())
        return EscapementError(
            problem["error"],
            code=code,
            status=status,
            request_id=headers.get("x-request-id"),
            errors=details.get("errors"),
            retry_after=retry_after,
            run_id=details.get("taskId"),
            details=details,
            idempotency_key=key,
        )
    return EscapementError(
        f"The response with status {status} is not from an Escapement server",
        code="BAD_ANSWER",
        status=status,
        request_id=headers.get("x-request-id"),
        idempotency_key=key,
    )


def _retry_after(header: str | None) -> float | None:
    """Seconds from an Escapement server; a proxy may send a date."""
    if header is None:
        return None
    if header.isdigit():
        return float(header)
    try:
        at: float = parsedate_to_datetime(header).timestamp()
        left: float = at - time.time()
        return left if left > 0 else 0.0
    except ValueError:
        return None
