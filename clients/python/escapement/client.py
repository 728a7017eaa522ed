"""The operations of the API. Written by `npm run docs` from the table of operations; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from . import types as t
from .connection import Connection


class Probes:
    """Operations `probes.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def health(
        self,
        *,
        timeout: float | None = None,
    ) -> t.Alive:
        """Check that the process is alive.

        Operation `probes.health`: `GET /health`.
        """
        answer: t.Alive = self._connection.call(
            "GET",
            "/health",
            timeout=timeout,
        )
        return answer

    def ready(
        self,
        *,
        timeout: float | None = None,
    ) -> t.Health:
        """Check whether this node accepts work.

        Operation `probes.ready`: `GET /ready`.
        """
        answer: t.Health = self._connection.call(
            "GET",
            "/ready",
            also=(503,),
            timeout=timeout,
        )
        return answer

    def version(
        self,
        *,
        timeout: float | None = None,
    ) -> t.Version:
        """Get the version of the server.

        Operation `probes.version`: `GET /api/v1/version`.
        """
        answer: t.Version = self._connection.call(
            "GET",
            "/api/v1/version",
            timeout=timeout,
        )
        return answer

    def openapi(
        self,
        *,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Get this API as an OpenAPI 3.1 document.

        Operation `probes.openapi`: `GET /openapi.json`.
        """
        answer: dict[str, Any] = self._connection.call(
            "GET",
            "/openapi.json",
            timeout=timeout,
        )
        return answer

    def file_schema(
        self,
        *,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Get the JSON Schema of schedules as code, for editors.

        Operation `probes.fileSchema`: `GET /schema/escapement.schema.json`.
        """
        answer: dict[str, Any] = self._connection.call(
            "GET",
            "/schema/escapement.schema.json",
            timeout=timeout,
        )
        return answer


class Schedules:
    """Operations `schedules.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        body: t.ScheduleInput,
        *,
        from_run: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.Schedule:
        """Create a schedule.

        Operation `schedules.create`: `POST /api/v1/schedules`.
        """
        answer: t.Schedule = self._connection.call(
            "POST",
            "/api/v1/schedules",
            query={
                "from_run": from_run,
            },
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def list(
        self,
        *,
        state: Literal["active", "paused", "finished", "failed", "pending_approval"] | None = None,
        agent_id: str | None = None,
        kind: Literal["at", "once", "every", "interval", "cron", "rrule"] | None = None,
        q: str | None = None,
        failing: bool | None = None,
        sort: Literal["-created_at", "created_at", "name", "-name", "next_run_at", "-next_run_at", "-failure_streak"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.SchedulePage:
        """List schedules.

        Operation `schedules.list`: `GET /api/v1/schedules`.
        """
        answer: t.SchedulePage = self._connection.call(
            "GET",
            "/api/v1/schedules",
            query={
                "state": state,
                "agent_id": agent_id,
                "kind": kind,
                "q": q,
                "failing": failing,
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Schedule:
        """Get a schedule.

        Operation `schedules.get`: `GET /api/v1/schedules/:id`.
        """
        answer: t.Schedule = self._connection.call(
            "GET",
            "/api/v1/schedules/:id",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def update(
        self,
        id: str,
        body: t.SchedulePatch,
        *,
        if_match: int | None = None,
        timeout: float | None = None,
    ) -> t.Schedule:
        """Update a schedule.

        Operation `schedules.update`: `PATCH /api/v1/schedules/:id`.
        """
        answer: t.Schedule = self._connection.call(
            "PATCH",
            "/api/v1/schedules/:id",
            path_values={"id": id},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        id: str,
        *,
        if_match: int | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a schedule.

        Operation `schedules.delete`: `DELETE /api/v1/schedules/:id`.
        """
        self._connection.call(
            "DELETE",
            "/api/v1/schedules/:id",
            path_values={"id": id},
            if_match=if_match,
            timeout=timeout,
        )

    def enable(
        self,
        id: str,
        *,
        if_match: int | None = None,
        timeout: float | None = None,
    ) -> t.Schedule:
        """Enable a schedule.

        Operation `schedules.enable`: `POST /api/v1/schedules/:id/enable`.
        """
        answer: t.Schedule = self._connection.call(
            "POST",
            "/api/v1/schedules/:id/enable",
            path_values={"id": id},
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def disable(
        self,
        id: str,
        *,
        if_match: int | None = None,
        timeout: float | None = None,
    ) -> t.Schedule:
        """Disable a schedule.

        Operation `schedules.disable`: `POST /api/v1/schedules/:id/disable`.
        """
        answer: t.Schedule = self._connection.call(
            "POST",
            "/api/v1/schedules/:id/disable",
            path_values={"id": id},
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def approve(
        self,
        id: str,
        *,
        if_match: int | None = None,
        timeout: float | None = None,
    ) -> t.Schedule:
        """Approve a schedule proposed with a restricted key.

        Operation `schedules.approve`: `POST /api/v1/schedules/:id/approve`.
        """
        answer: t.Schedule = self._connection.call(
            "POST",
            "/api/v1/schedules/:id/approve",
            path_values={"id": id},
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def reject(
        self,
        id: str,
        body: t.RejectInput,
        *,
        if_match: int | None = None,
        timeout: float | None = None,
    ) -> t.Schedule:
        """Reject a schedule proposed with a restricted key.

        Operation `schedules.reject`: `POST /api/v1/schedules/:id/reject`.
        """
        answer: t.Schedule = self._connection.call(
            "POST",
            "/api/v1/schedules/:id/reject",
            path_values={"id": id},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def run_now(
        self,
        id: str,
        body: dict[str, Any] | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.RunNowAnswer:
        """Run a schedule now.

        Operation `schedules.runNow`: `POST /api/v1/schedules/:id/run-now`.
        """
        answer: t.RunNowAnswer = self._connection.call(
            "POST",
            "/api/v1/schedules/:id/run-now",
            path_values={"id": id},
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def runs(
        self,
        id: str,
        *,
        schedule_id: str | None = None,
        agent_id: str | None = None,
        session: str | None = None,
        status: str | Sequence[str] | None = None,
        trigger: Literal["message", "task", "schedule", "catchup", "heartbeat", "manual", "retry", "webhook"] | None = None,
        agent_error_code: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.RunPage:
        """List the runs of a schedule.

        Operation `schedules.runs`: `GET /api/v1/schedules/:id/runs`.
        """
        answer: t.RunPage = self._connection.call(
            "GET",
            "/api/v1/schedules/:id/runs",
            path_values={"id": id},
            query={
                "schedule_id": schedule_id,
                "agent_id": agent_id,
                "session": session,
                "status": status,
                "trigger": trigger,
                "agent_error_code": agent_error_code,
                "from": from_,
                "to": to,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def outcomes(
        self,
        *,
        ids: str,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> t.ScheduleOutcomes:
        """Get the recent outcomes of many schedules.

        Operation `schedules.outcomes`: `GET /api/v1/schedules/outcomes`.
        """
        answer: t.ScheduleOutcomes = self._connection.call(
            "GET",
            "/api/v1/schedules/outcomes",
            query={
                "ids": ids,
                "limit": limit,
            },
            timeout=timeout,
        )
        return answer

    def explain(
        self,
        id: str,
        *,
        at: str | int,
        timeout: float | None = None,
    ) -> t.OccurrenceExplanation:
        """Explain an occurrence of a schedule, past or future.

        Operation `schedules.explain`: `GET /api/v1/schedules/:id/explain`.
        """
        answer: t.OccurrenceExplanation = self._connection.call(
            "GET",
            "/api/v1/schedules/:id/explain",
            path_values={"id": id},
            query={
                "at": at,
            },
            timeout=timeout,
        )
        return answer

    def preview(
        self,
        body: t.PreviewInput,
        *,
        timeout: float | None = None,
    ) -> t.Preview:
        """Preview a schedule as a sentence and dates.

        Operation `schedules.preview`: `POST /api/v1/schedules/preview`.
        """
        answer: t.Preview = self._connection.call(
            "POST",
            "/api/v1/schedules/preview",
            body=body,
            timeout=timeout,
        )
        return answer

    def probe(
        self,
        body: t.ProbeTryInput,
        *,
        timeout: float | None = None,
    ) -> t.ProbeTry:
        """Run a probe once and show the decision.

        Operation `schedules.probe`: `POST /api/v1/schedules/probe`.
        """
        answer: t.ProbeTry = self._connection.call(
            "POST",
            "/api/v1/schedules/probe",
            body=body,
            timeout=timeout,
        )
        return answer

    def simulate(
        self,
        body: t.SimulateInput,
        *,
        timeout: float | None = None,
    ) -> t.SimulateAnswer:
        """Simulate schedules over a period of time.

        Operation `schedules.simulate`: `POST /api/v1/schedules/simulate`.
        """
        answer: t.SimulateAnswer = self._connection.call(
            "POST",
            "/api/v1/schedules/simulate",
            body=body,
            timeout=timeout,
        )
        return answer

    def forecast(
        self,
        body: t.ScheduleForecastInput,
        *,
        timeout: float | None = None,
    ) -> t.ScheduleForecast:
        """Forecast the usage of a schedule before saving it.

        Operation `schedules.forecast`: `POST /api/v1/schedules/forecast`.
        """
        answer: t.ScheduleForecast = self._connection.call(
            "POST",
            "/api/v1/schedules/forecast",
            body=body,
            timeout=timeout,
        )
        return answer

    def bulk(
        self,
        body: t.BulkInput,
        *,
        timeout: float | None = None,
    ) -> t.BulkAnswer:
        """Enable, disable or delete many schedules.

        Operation `schedules.bulk`: `POST /api/v1/schedules/bulk`.
        """
        answer: t.BulkAnswer = self._connection.call(
            "POST",
            "/api/v1/schedules/bulk",
            body=body,
            timeout=timeout,
        )
        return answer

    def parse(
        self,
        body: t.WordsInput,
        *,
        timeout: float | None = None,
    ) -> t.Words:
        """Parse a schedule from natural language.

        Operation `schedules.parse`: `POST /api/v1/schedules/parse`.
        """
        answer: t.Words = self._connection.call(
            "POST",
            "/api/v1/schedules/parse",
            body=body,
            timeout=timeout,
        )
        return answer

    def backfill(
        self,
        id: str,
        body: t.BackfillInput,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.Backfill:
        """Run past occurrences of a schedule.

        Operation `schedules.backfill`: `POST /api/v1/schedules/:id/backfill`.
        """
        answer: t.Backfill = self._connection.call(
            "POST",
            "/api/v1/schedules/:id/backfill",
            path_values={"id": id},
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer


class Import:
    """Operations `import.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def crontab(
        self,
        body: t.CrontabInput,
        *,
        timeout: float | None = None,
    ) -> t.ImportReport:
        """Import a crontab as schedules.

        Operation `import.crontab`: `POST /api/v1/import/crontab`.
        """
        answer: t.ImportReport = self._connection.call(
            "POST",
            "/api/v1/import/crontab",
            body=body,
            timeout=timeout,
        )
        return answer

    def openclaw(
        self,
        body: t.ImportInput,
        *,
        timeout: float | None = None,
    ) -> t.ImportReport:
        """Import OpenClaw cron jobs as schedules.

        Operation `import.openclaw`: `POST /api/v1/import/openclaw`.
        """
        answer: t.ImportReport = self._connection.call(
            "POST",
            "/api/v1/import/openclaw",
            body=body,
            timeout=timeout,
        )
        return answer


class AsCode:
    """Operations `asCode.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def export(
        self,
        *,
        kinds: str | None = None,
        timeout: float | None = None,
    ) -> t.AsCodeDocument:
        """Export agents, targets, schedules and budgets as one document.

        Operation `asCode.export`: `GET /api/v1/export`.
        """
        answer: t.AsCodeDocument = self._connection.call(
            "GET",
            "/api/v1/export",
            query={
                "kinds": kinds,
            },
            timeout=timeout,
        )
        return answer

    def plan(
        self,
        body: t.GivenDocument,
        *,
        prune: bool | None = None,
        expect: str | None = None,
        timeout: float | None = None,
    ) -> t.Plan:
        """Plan the changes that applying a document would make.

        Operation `asCode.plan`: `POST /api/v1/apply/plan`.
        """
        answer: t.Plan = self._connection.call(
            "POST",
            "/api/v1/apply/plan",
            query={
                "prune": prune,
                "expect": expect,
            },
            body=body,
            timeout=timeout,
        )
        return answer

    def apply(
        self,
        body: t.GivenDocument,
        *,
        prune: bool | None = None,
        expect: str | None = None,
        timeout: float | None = None,
    ) -> t.Plan:
        """Apply a document.

        Operation `asCode.apply`: `POST /api/v1/apply`.
        """
        answer: t.Plan = self._connection.call(
            "POST",
            "/api/v1/apply",
            query={
                "prune": prune,
                "expect": expect,
            },
            body=body,
            timeout=timeout,
        )
        return answer


class Backfills:
    """Operations `backfills.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(
        self,
        *,
        schedule_id: str | None = None,
        state: Literal["running", "done", "cancelled", "failed"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.BackfillPage:
        """List backfills, newest first.

        Operation `backfills.list`: `GET /api/v1/backfills`.
        """
        answer: t.BackfillPage = self._connection.call(
            "GET",
            "/api/v1/backfills",
            query={
                "schedule_id": schedule_id,
                "state": state,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Backfill:
        """Get a backfill and its progress.

        Operation `backfills.get`: `GET /api/v1/backfills/:id`.
        """
        answer: t.Backfill = self._connection.call(
            "GET",
            "/api/v1/backfills/:id",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def cancel(
        self,
        id: str,
        body: t.BackfillCancel | None = None,
        *,
        timeout: float | None = None,
    ) -> t.Backfill:
        """Cancel a backfill.

        Operation `backfills.cancel`: `POST /api/v1/backfills/:id/cancel`.
        """
        answer: t.Backfill = self._connection.call(
            "POST",
            "/api/v1/backfills/:id/cancel",
            path_values={"id": id},
            body=body,
            timeout=timeout,
        )
        return answer


class Runs:
    """Operations `runs.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(
        self,
        *,
        schedule_id: str | None = None,
        agent_id: str | None = None,
        session: str | None = None,
        status: str | Sequence[str] | None = None,
        trigger: Literal["message", "task", "schedule", "catchup", "heartbeat", "manual", "retry", "webhook"] | None = None,
        agent_error_code: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.RunPage:
        """List runs.

        Operation `runs.list`: `GET /api/v1/runs`.
        """
        answer: t.RunPage = self._connection.call(
            "GET",
            "/api/v1/runs",
            query={
                "schedule_id": schedule_id,
                "agent_id": agent_id,
                "session": session,
                "status": status,
                "trigger": trigger,
                "agent_error_code": agent_error_code,
                "from": from_,
                "to": to,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        wait: float | None = None,
        timeout: float | None = None,
    ) -> t.RunDetail:
        """Get a run with its attempts, deliveries, history and reason.

        Operation `runs.get`: `GET /api/v1/runs/:id`.
        """
        answer: t.RunDetail = self._connection.call(
            "GET",
            "/api/v1/runs/:id",
            path_values={"id": id},
            query={
                "wait": wait,
            },
            timeout=timeout,
        )
        return answer

    def explain(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.RunExplanation:
        """Explain the state of a run, by rule and evidence.

        Operation `runs.explain`: `GET /api/v1/runs/:id/explain`.
        """
        answer: t.RunExplanation = self._connection.call(
            "GET",
            "/api/v1/runs/:id/explain",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def lineage(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.Lineage:
        """Get what created a run, and what the run created and triggered.

        Operation `runs.lineage`: `GET /api/v1/runs/:id/lineage`.
        """
        answer: t.Lineage = self._connection.call(
            "GET",
            "/api/v1/runs/:id/lineage",
            path_values={"id": id},
            query={
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def log(
        self,
        id: str,
        *,
        attempt: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.RunLogPage:
        """List the output of a run: streamed text, log lines and steps.

        Operation `runs.log`: `GET /api/v1/runs/:id/log`.
        """
        answer: t.RunLogPage = self._connection.call(
            "GET",
            "/api/v1/runs/:id/log",
            path_values={"id": id},
            query={
                "attempt": attempt,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def compare(
        self,
        id: str,
        other: str,
        *,
        timeout: float | None = None,
    ) -> t.RunComparison:
        """Compare two runs: output, payload, tokens, cost and duration.

        Operation `runs.compare`: `GET /api/v1/runs/:id/compare/:other`.
        """
        answer: t.RunComparison = self._connection.call(
            "GET",
            "/api/v1/runs/:id/compare/:other",
            path_values={"id": id, "other": other},
            timeout=timeout,
        )
        return answer

    def cancel(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Run:
        """Cancel a run.

        Operation `runs.cancel`: `POST /api/v1/runs/:id/cancel`.
        """
        answer: t.Run = self._connection.call(
            "POST",
            "/api/v1/runs/:id/cancel",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def retry(
        self,
        id: str,
        body: t.RetryInput | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.Run:
        """Retry an ended run.

        Operation `runs.retry`: `POST /api/v1/runs/:id/retry`.
        """
        answer: t.Run = self._connection.call(
            "POST",
            "/api/v1/runs/:id/retry",
            path_values={"id": id},
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def schedule(
        self,
        id: str,
        body: t.DraftInput | None = None,
        *,
        timeout: float | None = None,
    ) -> t.ScheduleDraft:
        """Draft a schedule from a run.

        Operation `runs.schedule`: `POST /api/v1/runs/:id/schedule`.
        """
        answer: t.ScheduleDraft = self._connection.call(
            "POST",
            "/api/v1/runs/:id/schedule",
            path_values={"id": id},
            body=body,
            timeout=timeout,
        )
        return answer

    def proposal(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.ScheduleProposal:
        """Propose a schedule from a run, with the choices and their basis.

        Operation `runs.proposal`: `GET /api/v1/runs/:id/schedule`.
        """
        answer: t.ScheduleProposal = self._connection.call(
            "GET",
            "/api/v1/runs/:id/schedule",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def get_schedule_run(
        self,
        run_id: str,
        *,
        wait: float | None = None,
        timeout: float | None = None,
    ) -> t.RunDetail:
        """Get a run of a schedule.

        Operation `runs.getScheduleRun`: `GET /api/v1/schedule-runs/:runId`.
        """
        answer: t.RunDetail = self._connection.call(
            "GET",
            "/api/v1/schedule-runs/:runId",
            path_values={"runId": run_id},
            query={
                "wait": wait,
            },
            timeout=timeout,
        )
        return answer

    def retry_schedule_run(
        self,
        run_id: str,
        body: t.RetryInput | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.Run:
        """Retry an ended run of a schedule.

        Operation `runs.retryScheduleRun`: `POST /api/v1/schedule-runs/:runId/retry`.
        """
        answer: t.Run = self._connection.call(
            "POST",
            "/api/v1/schedule-runs/:runId/retry",
            path_values={"runId": run_id},
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer


class Explain:
    """Operations `explain.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def ask(
        self,
        *,
        id: str | None = None,
        at: str | None = None,
        timezone: str | None = None,
        schedule_id: str | None = None,
        agent_id: str | None = None,
        session: str | None = None,
        within_seconds: int | None = None,
        timeout: float | None = None,
    ) -> t.Explanation:
        """Explain why something happened, or why nothing did.

        Operation `explain.ask`: `GET /api/v1/explain`.
        """
        answer: t.Explanation = self._connection.call(
            "GET",
            "/api/v1/explain",
            query={
                "id": id,
                "at": at,
                "timezone": timezone,
                "schedule_id": schedule_id,
                "agent_id": agent_id,
                "session": session,
                "within_seconds": within_seconds,
            },
            timeout=timeout,
        )
        return answer


class Callbacks:
    """Operations `callbacks.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def settle(
        self,
        token: str,
        body: t.ResultInput,
        *,
        timeout: float | None = None,
    ) -> t.CallbackAnswer:
        """Report the result of a deferred attempt.

        Operation `callbacks.settle`: `POST /api/v1/callbacks/:token`.
        """
        answer: t.CallbackAnswer = self._connection.call(
            "POST",
            "/api/v1/callbacks/:token",
            path_values={"token": token},
            body=body,
            timeout=timeout,
        )
        return answer


class Sessions:
    """Operations `sessions.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(
        self,
        *,
        isolated: bool | None = None,
        agent_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.SessionPage:
        """List sessions.

        Operation `sessions.list`: `GET /api/v1/sessions`.
        """
        answer: t.SessionPage = self._connection.call(
            "GET",
            "/api/v1/sessions",
            query={
                "isolated": isolated,
                "agent_id": agent_id,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def get(
        self,
        key: str,
        *,
        timeout: float | None = None,
    ) -> t.Session:
        """Get a session and its pending work.

        Operation `sessions.get`: `GET /api/v1/sessions/:key`.
        """
        answer: t.Session = self._connection.call(
            "GET",
            "/api/v1/sessions/:key",
            path_values={"key": key},
            timeout=timeout,
        )
        return answer

    def update(
        self,
        key: str,
        body: t.SessionChange,
        *,
        timeout: float | None = None,
    ) -> t.Session:
        """Update the queueing of a session.

        Operation `sessions.update`: `PATCH /api/v1/sessions/:key`.
        """
        answer: t.Session = self._connection.call(
            "PATCH",
            "/api/v1/sessions/:key",
            path_values={"key": key},
            body=body,
            timeout=timeout,
        )
        return answer

    def messages(
        self,
        key: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.MessagePage:
        """List the messages of a session and their replies.

        Operation `sessions.messages`: `GET /api/v1/sessions/:key/messages`.
        """
        answer: t.MessagePage = self._connection.call(
            "GET",
            "/api/v1/sessions/:key/messages",
            path_values={"key": key},
            query={
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def send(
        self,
        key: str,
        body: t.MessageInput,
        *,
        wait: float | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.Run | t.StopAnswer | t.MessageReceipt | t.MessageReceipt:
        """Send a message to a session.

        Operation `sessions.send`: `POST /api/v1/sessions/:key/messages`.
        """
        answer: t.Run | t.StopAnswer | t.MessageReceipt | t.MessageReceipt = self._connection.call(
            "POST",
            "/api/v1/sessions/:key/messages",
            path_values={"key": key},
            query={
                "wait": wait,
            },
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def send_many(
        self,
        body: t.MessagesInput,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.MessagesAnswer:
        """Send up to 1,000 messages.

        Operation `sessions.sendMany`: `POST /api/v1/messages`.
        """
        answer: t.MessagesAnswer = self._connection.call(
            "POST",
            "/api/v1/messages",
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def stop(
        self,
        key: str,
        *,
        timeout: float | None = None,
    ) -> t.StopAnswer:
        """Cancel the oldest active run of a session.

        Operation `sessions.stop`: `POST /api/v1/sessions/:key/stop`.
        """
        answer: t.StopAnswer = self._connection.call(
            "POST",
            "/api/v1/sessions/:key/stop",
            path_values={"key": key},
            timeout=timeout,
        )
        return answer

    def stop_all(
        self,
        key: str,
        *,
        timeout: float | None = None,
    ) -> t.StopAnswer:
        """Cancel the active runs of a session and empty its queue.

        Operation `sessions.stopAll`: `POST /api/v1/sessions/:key/stopall`.
        """
        answer: t.StopAnswer = self._connection.call(
            "POST",
            "/api/v1/sessions/:key/stopall",
            path_values={"key": key},
            timeout=timeout,
        )
        return answer

    def reset(
        self,
        key: str,
        *,
        timeout: float | None = None,
    ) -> t.StopAnswer:
        """Start a new generation of a session.

        Operation `sessions.reset`: `POST /api/v1/sessions/:key/reset`.
        """
        answer: t.StopAnswer = self._connection.call(
            "POST",
            "/api/v1/sessions/:key/reset",
            path_values={"key": key},
            timeout=timeout,
        )
        return answer


class Agents:
    """Operations `agents.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        body: t.AgentInput,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.Agent:
        """Create an agent.

        Operation `agents.create`: `POST /api/v1/agents`.
        """
        answer: t.Agent = self._connection.call(
            "POST",
            "/api/v1/agents",
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.AgentPage:
        """List agents, by id.

        Operation `agents.list`: `GET /api/v1/agents`.
        """
        answer: t.AgentPage = self._connection.call(
            "GET",
            "/api/v1/agents",
            query={
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Agent:
        """Get an agent.

        Operation `agents.get`: `GET /api/v1/agents/:id`.
        """
        answer: t.Agent = self._connection.call(
            "GET",
            "/api/v1/agents/:id",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def update(
        self,
        id: str,
        body: t.AgentPatch,
        *,
        if_match: int | None = None,
        timeout: float | None = None,
    ) -> t.Agent:
        """Update an agent.

        Operation `agents.update`: `PATCH /api/v1/agents/:id`.
        """
        answer: t.Agent = self._connection.call(
            "PATCH",
            "/api/v1/agents/:id",
            path_values={"id": id},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def outcomes(
        self,
        *,
        ids: str,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> t.AgentOutcomes:
        """Get the recent outcomes of many agents.

        Operation `agents.outcomes`: `GET /api/v1/agent-outcomes`.
        """
        answer: t.AgentOutcomes = self._connection.call(
            "GET",
            "/api/v1/agent-outcomes",
            query={
                "ids": ids,
                "limit": limit,
            },
            timeout=timeout,
        )
        return answer

    def stats(
        self,
        id: str,
        *,
        days: int | None = None,
        timeout: float | None = None,
    ) -> t.AgentStats:
        """Get runs, durations, tokens and cost of an agent per day.

        Operation `agents.stats`: `GET /api/v1/agents/:id/stats`.
        """
        answer: t.AgentStats = self._connection.call(
            "GET",
            "/api/v1/agents/:id/stats",
            path_values={"id": id},
            query={
                "days": days,
            },
            timeout=timeout,
        )
        return answer

    def test(
        self,
        id: str,
        body: t.AgentTestInput | None = None,
        *,
        timeout: float | None = None,
    ) -> t.AgentTest:
        """Test an agent.

        Operation `agents.test`: `POST /api/v1/agents/:id/test`.
        """
        answer: t.AgentTest = self._connection.call(
            "POST",
            "/api/v1/agents/:id/test",
            path_values={"id": id},
            body=body,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        id: str,
        *,
        if_match: int | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete an agent that no schedule uses.

        Operation `agents.delete`: `DELETE /api/v1/agents/:id`.
        """
        self._connection.call(
            "DELETE",
            "/api/v1/agents/:id",
            path_values={"id": id},
            if_match=if_match,
            timeout=timeout,
        )


class Heartbeat:
    """Operations `heartbeat.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Heartbeat:
        """Get the heartbeat of an agent.

        Operation `heartbeat.get`: `GET /api/v1/agents/:id/heartbeat`.
        """
        answer: t.Heartbeat = self._connection.call(
            "GET",
            "/api/v1/agents/:id/heartbeat",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def set(
        self,
        id: str,
        body: t.HeartbeatInput,
        *,
        if_match: int | None = None,
        timeout: float | None = None,
    ) -> t.Heartbeat:
        """Set the heartbeat of an agent.

        Operation `heartbeat.set`: `PUT /api/v1/agents/:id/heartbeat`.
        """
        answer: t.Heartbeat = self._connection.call(
            "PUT",
            "/api/v1/agents/:id/heartbeat",
            path_values={"id": id},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def test(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.HeartbeatTest:
        """Run the heartbeat of an agent once, now.

        Operation `heartbeat.test`: `POST /api/v1/agents/:id/heartbeat/test`.
        """
        answer: t.HeartbeatTest = self._connection.call(
            "POST",
            "/api/v1/agents/:id/heartbeat/test",
            path_values={"id": id},
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def log(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        outcome: str | Sequence[str] | None = None,
        timeout: float | None = None,
    ) -> t.HeartbeatLog:
        """List the heartbeats of an agent and their outcomes, newest first.

        Operation `heartbeat.log`: `GET /api/v1/agents/:id/heartbeat/log`.
        """
        answer: t.HeartbeatLog = self._connection.call(
            "GET",
            "/api/v1/agents/:id/heartbeat/log",
            path_values={"id": id},
            query={
                "limit": limit,
                "cursor": cursor,
                "outcome": outcome,
            },
            timeout=timeout,
        )
        return answer


class Workers:
    """Operations `workers.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(
        self,
        *,
        timeout: float | None = None,
    ) -> t.WorkerPage:
        """List connected workers, oldest first.

        Operation `workers.list`: `GET /api/v1/workers`.
        """
        answer: t.WorkerPage = self._connection.call(
            "GET",
            "/api/v1/workers",
            timeout=timeout,
        )
        return answer


class Worker:
    """Operations `worker.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def claim(
        self,
        body: t.ClaimInput,
        *,
        timeout: float | None = None,
    ) -> t.ClaimAnswer:
        """Claim attempts (long poll).

        Operation `worker.claim`: `POST /api/v1/worker/claim`.
        """
        answer: t.ClaimAnswer = self._connection.call(
            "POST",
            "/api/v1/worker/claim",
            body=body,
            timeout=timeout,
        )
        return answer

    def start(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.WorkerAnswer:
        """Report that an attempt has started.

        Operation `worker.start`: `POST /api/v1/worker/attempts/:id/start`.
        """
        answer: t.WorkerAnswer = self._connection.call(
            "POST",
            "/api/v1/worker/attempts/:id/start",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def renew(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.WorkerAnswer:
        """Renew the lease of a worker and ask whether to continue.

        Operation `worker.renew`: `POST /api/v1/worker/attempts/:id/renew`.
        """
        answer: t.WorkerAnswer = self._connection.call(
            "POST",
            "/api/v1/worker/attempts/:id/renew",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def events(
        self,
        id: str,
        body: t.EventsInput,
        *,
        timeout: float | None = None,
    ) -> t.WorkerAnswer:
        """Report output of an attempt.

        Operation `worker.events`: `POST /api/v1/worker/attempts/:id/events`.
        """
        answer: t.WorkerAnswer = self._connection.call(
            "POST",
            "/api/v1/worker/attempts/:id/events",
            path_values={"id": id},
            body=body,
            timeout=timeout,
        )
        return answer

    def complete(
        self,
        id: str,
        body: t.ResultInput,
        *,
        timeout: float | None = None,
    ) -> t.WorkerAnswer:
        """Report the result of an attempt.

        Operation `worker.complete`: `POST /api/v1/worker/attempts/:id/complete`.
        """
        answer: t.WorkerAnswer = self._connection.call(
            "POST",
            "/api/v1/worker/attempts/:id/complete",
            path_values={"id": id},
            body=body,
            timeout=timeout,
        )
        return answer


class Budgets:
    """Operations `budgets.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        body: t.BudgetInput,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.Budget:
        """Create a budget.

        Operation `budgets.create`: `POST /api/v1/budgets`.
        """
        answer: t.Budget = self._connection.call(
            "POST",
            "/api/v1/budgets",
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.BudgetPage:
        """List budgets and their usage.

        Operation `budgets.list`: `GET /api/v1/budgets`.
        """
        answer: t.BudgetPage = self._connection.call(
            "GET",
            "/api/v1/budgets",
            query={
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def forecast(
        self,
        *,
        days: int | None = None,
        timeout: float | None = None,
    ) -> t.Forecast:
        """Forecast usage, and when budgets run out.

        Operation `budgets.forecast`: `GET /api/v1/budgets/forecast`.
        """
        answer: t.Forecast = self._connection.call(
            "GET",
            "/api/v1/budgets/forecast",
            query={
                "days": days,
            },
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Budget:
        """Get a budget and its usage.

        Operation `budgets.get`: `GET /api/v1/budgets/:id`.
        """
        answer: t.Budget = self._connection.call(
            "GET",
            "/api/v1/budgets/:id",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def update(
        self,
        id: str,
        body: t.BudgetPatch,
        *,
        timeout: float | None = None,
    ) -> t.Budget:
        """Update a budget.

        Operation `budgets.update`: `PATCH /api/v1/budgets/:id`.
        """
        answer: t.Budget = self._connection.call(
            "PATCH",
            "/api/v1/budgets/:id",
            path_values={"id": id},
            body=body,
            timeout=timeout,
        )
        return answer

    def resume(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Budget:
        """Resume a paused budget.

        Operation `budgets.resume`: `POST /api/v1/budgets/:id/resume`.
        """
        answer: t.Budget = self._connection.call(
            "POST",
            "/api/v1/budgets/:id/resume",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Delete a budget and its counters.

        Operation `budgets.delete`: `DELETE /api/v1/budgets/:id`.
        """
        self._connection.call(
            "DELETE",
            "/api/v1/budgets/:id",
            path_values={"id": id},
            timeout=timeout,
        )


class Providers:
    """Operations `providers.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        body: t.ProviderInput,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.Provider:
        """Create a provider.

        Operation `providers.create`: `POST /api/v1/providers`.
        """
        answer: t.Provider = self._connection.call(
            "POST",
            "/api/v1/providers",
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.ProviderPage:
        """List providers by name, with their remaining quotas.

        Operation `providers.list`: `GET /api/v1/providers`.
        """
        answer: t.ProviderPage = self._connection.call(
            "GET",
            "/api/v1/providers",
            query={
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def get(
        self,
        name: str,
        *,
        timeout: float | None = None,
    ) -> t.Provider:
        """Get a provider with its remaining quotas.

        Operation `providers.get`: `GET /api/v1/providers/:name`.
        """
        answer: t.Provider = self._connection.call(
            "GET",
            "/api/v1/providers/:name",
            path_values={"name": name},
            timeout=timeout,
        )
        return answer

    def update(
        self,
        name: str,
        body: t.ProviderPatch,
        *,
        timeout: float | None = None,
    ) -> t.Provider:
        """Update the quotas of a provider.

        Operation `providers.update`: `PATCH /api/v1/providers/:name`.
        """
        answer: t.Provider = self._connection.call(
            "PATCH",
            "/api/v1/providers/:name",
            path_values={"name": name},
            body=body,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        name: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Delete a provider that no agent uses.

        Operation `providers.delete`: `DELETE /api/v1/providers/:name`.
        """
        self._connection.call(
            "DELETE",
            "/api/v1/providers/:name",
            path_values={"name": name},
            timeout=timeout,
        )


class Targets:
    """Operations `targets.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        body: t.TargetInput,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.Target:
        """Create a target.

        Operation `targets.create`: `POST /api/v1/targets`.
        """
        answer: t.Target = self._connection.call(
            "POST",
            "/api/v1/targets",
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.TargetPage:
        """List targets and their state.

        Operation `targets.list`: `GET /api/v1/targets`.
        """
        answer: t.TargetPage = self._connection.call(
            "GET",
            "/api/v1/targets",
            query={
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def signing_secret(
        self,
        *,
        timeout: float | None = None,
    ) -> t.SigningSecret:
        """Get the signing secret of webhooks.

        Operation `targets.signingSecret`: `GET /api/v1/targets/signing-secret`.
        """
        answer: t.SigningSecret = self._connection.call(
            "GET",
            "/api/v1/targets/signing-secret",
            timeout=timeout,
        )
        return answer

    def rotate_secret(
        self,
        *,
        timeout: float | None = None,
    ) -> t.SigningSecret:
        """Create a new signing secret.

        Operation `targets.rotateSecret`: `POST /api/v1/targets/signing-secret/rotate`.
        """
        answer: t.SigningSecret = self._connection.call(
            "POST",
            "/api/v1/targets/signing-secret/rotate",
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Target:
        """Get a target and its state.

        Operation `targets.get`: `GET /api/v1/targets/:id`.
        """
        answer: t.Target = self._connection.call(
            "GET",
            "/api/v1/targets/:id",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def update(
        self,
        id: str,
        body: t.TargetPatch,
        *,
        timeout: float | None = None,
    ) -> t.Target:
        """Update a target.

        Operation `targets.update`: `PATCH /api/v1/targets/:id`.
        """
        answer: t.Target = self._connection.call(
            "PATCH",
            "/api/v1/targets/:id",
            path_values={"id": id},
            body=body,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Delete a target that no schedule uses.

        Operation `targets.delete`: `DELETE /api/v1/targets/:id`.
        """
        self._connection.call(
            "DELETE",
            "/api/v1/targets/:id",
            path_values={"id": id},
            timeout=timeout,
        )

    def test(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.TargetTest:
        """Send a test message to a target.

        Operation `targets.test`: `POST /api/v1/targets/:id/test`.
        """
        answer: t.TargetTest = self._connection.call(
            "POST",
            "/api/v1/targets/:id/test",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def enable(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.EnabledTarget:
        """Enable a target and send held messages.

        Operation `targets.enable`: `POST /api/v1/targets/:id/enable`.
        """
        answer: t.EnabledTarget = self._connection.call(
            "POST",
            "/api/v1/targets/:id/enable",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer


class Channels:
    """Operations `channels.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        body: t.ChannelInput,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.Channel:
        """Create a channel.

        Operation `channels.create`: `POST /api/v1/channels`.
        """
        answer: t.Channel = self._connection.call(
            "POST",
            "/api/v1/channels",
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.ChannelPage:
        """List channels and their state.

        Operation `channels.list`: `GET /api/v1/channels`.
        """
        answer: t.ChannelPage = self._connection.call(
            "GET",
            "/api/v1/channels",
            query={
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Channel:
        """Get a channel and its state.

        Operation `channels.get`: `GET /api/v1/channels/:id`.
        """
        answer: t.Channel = self._connection.call(
            "GET",
            "/api/v1/channels/:id",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def update(
        self,
        id: str,
        body: t.ChannelPatch,
        *,
        timeout: float | None = None,
    ) -> t.Channel:
        """Update a channel.

        Operation `channels.update`: `PATCH /api/v1/channels/:id`.
        """
        answer: t.Channel = self._connection.call(
            "PATCH",
            "/api/v1/channels/:id",
            path_values={"id": id},
            body=body,
            timeout=timeout,
        )
        return answer

    def enable(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Channel:
        """Enable a channel.

        Operation `channels.enable`: `POST /api/v1/channels/:id/enable`.
        """
        answer: t.Channel = self._connection.call(
            "POST",
            "/api/v1/channels/:id/enable",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def disable(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Channel:
        """Disable a channel.

        Operation `channels.disable`: `POST /api/v1/channels/:id/disable`.
        """
        answer: t.Channel = self._connection.call(
            "POST",
            "/api/v1/channels/:id/disable",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Delete a channel.

        Operation `channels.delete`: `DELETE /api/v1/channels/:id`.
        """
        self._connection.call(
            "DELETE",
            "/api/v1/channels/:id",
            path_values={"id": id},
            timeout=timeout,
        )

    def test(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.ChannelTest:
        """Test the credentials of a channel.

        Operation `channels.test`: `POST /api/v1/channels/:id/test`.
        """
        answer: t.ChannelTest = self._connection.call(
            "POST",
            "/api/v1/channels/:id/test",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer


class Hooks:
    """Operations `hooks.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def receive(
        self,
        id: str,
        body: t.HookMessage,
        *,
        timeout: float | None = None,
    ) -> t.HookAnswer | t.HookReceipt:
        """Receive a webhook of a channel.

        Operation `hooks.receive`: `POST /api/v1/hooks/:id`.
        """
        answer: t.HookAnswer | t.HookReceipt = self._connection.call(
            "POST",
            "/api/v1/hooks/:id",
            path_values={"id": id},
            body=body,
            timeout=timeout,
        )
        return answer


class Secrets:
    """Operations `secrets.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        body: t.SecretInput,
        *,
        timeout: float | None = None,
    ) -> t.Secret:
        """Create a secret.

        Operation `secrets.create`: `POST /api/v1/secrets`.
        """
        answer: t.Secret = self._connection.call(
            "POST",
            "/api/v1/secrets",
            body=body,
            timeout=timeout,
        )
        return answer

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.SecretPage:
        """List secrets by name, without their values.

        Operation `secrets.list`: `GET /api/v1/secrets`.
        """
        answer: t.SecretPage = self._connection.call(
            "GET",
            "/api/v1/secrets",
            query={
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def rotate(
        self,
        body: t.SecretRotationInput | None = None,
        *,
        timeout: float | None = None,
    ) -> t.SecretRotation:
        """Re-encrypt all secrets with the first key.

        Operation `secrets.rotate`: `POST /api/v1/secrets/rotate`.
        """
        answer: t.SecretRotation = self._connection.call(
            "POST",
            "/api/v1/secrets/rotate",
            body=body,
            timeout=timeout,
        )
        return answer

    def get(
        self,
        name: str,
        *,
        timeout: float | None = None,
    ) -> t.Secret:
        """Get a secret and its users, without its value.

        Operation `secrets.get`: `GET /api/v1/secrets/:name`.
        """
        answer: t.Secret = self._connection.call(
            "GET",
            "/api/v1/secrets/:name",
            path_values={"name": name},
            timeout=timeout,
        )
        return answer

    def update(
        self,
        name: str,
        body: t.SecretPatch,
        *,
        if_match: int | None = None,
        timeout: float | None = None,
    ) -> t.Secret:
        """Update the value or the hosts of a secret.

        Operation `secrets.update`: `PATCH /api/v1/secrets/:name`.
        """
        answer: t.Secret = self._connection.call(
            "PATCH",
            "/api/v1/secrets/:name",
            path_values={"name": name},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        name: str,
        *,
        if_match: int | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a secret that no agent uses.

        Operation `secrets.delete`: `DELETE /api/v1/secrets/:name`.
        """
        self._connection.call(
            "DELETE",
            "/api/v1/secrets/:name",
            path_values={"name": name},
            if_match=if_match,
            timeout=timeout,
        )


class Deliveries:
    """Operations `deliveries.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(
        self,
        *,
        status: str | Sequence[str] | None = None,
        run_id: str | None = None,
        target_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.DeliveryPage:
        """List deliveries with their tries, newest first.

        Operation `deliveries.list`: `GET /api/v1/deliveries`.
        """
        answer: t.DeliveryPage = self._connection.call(
            "GET",
            "/api/v1/deliveries",
            query={
                "status": status,
                "run_id": run_id,
                "target_id": target_id,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Delivery:
        """Get a delivery with its tries.

        Operation `deliveries.get`: `GET /api/v1/deliveries/:id`.
        """
        answer: t.Delivery = self._connection.call(
            "GET",
            "/api/v1/deliveries/:id",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def retry(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Delivery:
        """Send a delivery now.

        Operation `deliveries.retry`: `POST /api/v1/deliveries/:id/retry`.
        """
        answer: t.Delivery = self._connection.call(
            "POST",
            "/api/v1/deliveries/:id/retry",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer


class Alerts:
    """Operations `alerts.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(
        self,
        *,
        status: Literal["open", "cleared"] | None = None,
        attention: bool | None = None,
        kind: Literal["failures_in_a_row", "occurrence_missed", "late", "budget_low", "budget_used_up", "budget_no_room", "engine_stalled", "delivery_disabled", "heartbeat_failing", "runs_unserved"] | None = None,
        subject_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.AlertPage:
        """List alerts, newest first.

        Operation `alerts.list`: `GET /api/v1/alerts`.
        """
        answer: t.AlertPage = self._connection.call(
            "GET",
            "/api/v1/alerts",
            query={
                "status": status,
                "attention": attention,
                "kind": kind,
                "subject_id": subject_id,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Alert:
        """Get an alert.

        Operation `alerts.get`: `GET /api/v1/alerts/:id`.
        """
        answer: t.Alert = self._connection.call(
            "GET",
            "/api/v1/alerts/:id",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def acknowledge(
        self,
        id: str,
        body: t.AlertAcknowledgement | None = None,
        *,
        timeout: float | None = None,
    ) -> t.Alert:
        """Acknowledge an alert.

        Operation `alerts.acknowledge`: `POST /api/v1/alerts/:id/acknowledge`.
        """
        answer: t.Alert = self._connection.call(
            "POST",
            "/api/v1/alerts/:id/acknowledge",
            path_values={"id": id},
            body=body,
            timeout=timeout,
        )
        return answer

    def snooze(
        self,
        id: str,
        body: t.AlertSnooze,
        *,
        timeout: float | None = None,
    ) -> t.Alert:
        """Snooze an alert until a time.

        Operation `alerts.snooze`: `POST /api/v1/alerts/:id/snooze`.
        """
        answer: t.Alert = self._connection.call(
            "POST",
            "/api/v1/alerts/:id/snooze",
            path_values={"id": id},
            body=body,
            timeout=timeout,
        )
        return answer

    def retry(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.AlertRetry:
        """Retry the failed runs behind an alert.

        Operation `alerts.retry`: `POST /api/v1/alerts/:id/retry`.
        """
        answer: t.AlertRetry = self._connection.call(
            "POST",
            "/api/v1/alerts/:id/retry",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer


class Lanes:
    """Operations `lanes.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(
        self,
        *,
        timeout: float | None = None,
    ) -> t.LanePage:
        """List lanes.

        Operation `lanes.list`: `GET /api/v1/lanes`.
        """
        answer: t.LanePage = self._connection.call(
            "GET",
            "/api/v1/lanes",
            timeout=timeout,
        )
        return answer

    def set(
        self,
        name: str,
        body: t.LaneSize,
        *,
        timeout: float | None = None,
    ) -> t.Lane:
        """Set the size of a lane on every node.

        Operation `lanes.set`: `PUT /api/v1/lanes/:name`.
        """
        answer: t.Lane = self._connection.call(
            "PUT",
            "/api/v1/lanes/:name",
            path_values={"name": name},
            body=body,
            timeout=timeout,
        )
        return answer


class Nodes:
    """Operations `nodes.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(
        self,
        *,
        timeout: float | None = None,
    ) -> t.NodePage:
        """List the nodes of the deployment, oldest first.

        Operation `nodes.list`: `GET /api/v1/nodes`.
        """
        answer: t.NodePage = self._connection.call(
            "GET",
            "/api/v1/nodes",
            timeout=timeout,
        )
        return answer


class Stats:
    """Operations `stats.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        timeout: float | None = None,
    ) -> t.Stats:
        """Get statistics of runs and queues.

        Operation `stats.get`: `GET /api/v1/stats`.
        """
        answer: t.Stats = self._connection.call(
            "GET",
            "/api/v1/stats",
            query={
                "from": from_,
                "to": to,
            },
            timeout=timeout,
        )
        return answer

    def series(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        step: Literal["hour", "day"] | None = None,
        timeout: float | None = None,
    ) -> t.StatsSeries:
        """Get statistics per hour or day.

        Operation `stats.series`: `GET /api/v1/stats/series`.
        """
        answer: t.StatsSeries = self._connection.call(
            "GET",
            "/api/v1/stats/series",
            query={
                "from": from_,
                "to": to,
                "step": step,
            },
            timeout=timeout,
        )
        return answer

    def timeline(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        step_seconds: int | None = None,
        by: Literal["schedule", "agent", "org"] | None = None,
        schedule_id: str | None = None,
        agent_id: str | None = None,
        text: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.Timeline:
        """Get runs and planned occurrences over time, per schedule or agent.

        Operation `stats.timeline`: `GET /api/v1/stats/timeline`.
        """
        answer: t.Timeline = self._connection.call(
            "GET",
            "/api/v1/stats/timeline",
            query={
                "from": from_,
                "to": to,
                "step_seconds": step_seconds,
                "by": by,
                "schedule_id": schedule_id,
                "agent_id": agent_id,
                "text": text,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer


class Config:
    """Operations `config.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(
        self,
        *,
        timeout: float | None = None,
    ) -> t.Config:
        """Get all settings and their sources.

        Operation `config.get`: `GET /api/v1/config`.
        """
        answer: t.Config = self._connection.call(
            "GET",
            "/api/v1/config",
            timeout=timeout,
        )
        return answer

    def update(
        self,
        body: t.ConfigPatch,
        *,
        timeout: float | None = None,
    ) -> t.Config:
        """Change settings on every node without a restart.

        Operation `config.update`: `PATCH /api/v1/config`.
        """
        answer: t.Config = self._connection.call(
            "PATCH",
            "/api/v1/config",
            body=body,
            timeout=timeout,
        )
        return answer


class Keys:
    """Operations `keys.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        body: t.KeyInput,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.MadeKey:
        """Create a key.

        Operation `keys.create`: `POST /api/v1/keys`.
        """
        answer: t.MadeKey = self._connection.call(
            "POST",
            "/api/v1/keys",
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def list(
        self,
        *,
        state: Literal["active", "expired", "revoked"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.KeyPage:
        """List keys, newest first.

        Operation `keys.list`: `GET /api/v1/keys`.
        """
        answer: t.KeyPage = self._connection.call(
            "GET",
            "/api/v1/keys",
            query={
                "state": state,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Key:
        """Get a key, without its text.

        Operation `keys.get`: `GET /api/v1/keys/:id`.
        """
        answer: t.Key = self._connection.call(
            "GET",
            "/api/v1/keys/:id",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def revoke(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Key:
        """Revoke a key.

        Operation `keys.revoke`: `DELETE /api/v1/keys/:id`.
        """
        answer: t.Key = self._connection.call(
            "DELETE",
            "/api/v1/keys/:id",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer


class Orgs:
    """Operations `orgs.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        body: t.OrgInput,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.CreatedOrg:
        """Create an org.

        Operation `orgs.create`: `POST /api/v1/orgs`.
        """
        answer: t.CreatedOrg = self._connection.call(
            "POST",
            "/api/v1/orgs",
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.OrgPage:
        """List orgs, newest first.

        Operation `orgs.list`: `GET /api/v1/orgs`.
        """
        answer: t.OrgPage = self._connection.call(
            "GET",
            "/api/v1/orgs",
            query={
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def get(
        self,
        org_id: str,
        *,
        timeout: float | None = None,
    ) -> t.Org:
        """Get an org.

        Operation `orgs.get`: `GET /api/v1/orgs/:org_id`.
        """
        answer: t.Org = self._connection.call(
            "GET",
            "/api/v1/orgs/:org_id",
            path_values={"org_id": org_id},
            timeout=timeout,
        )
        return answer

    def update(
        self,
        org_id: str,
        body: t.OrgPatch,
        *,
        timeout: float | None = None,
    ) -> t.Org:
        """Update an org.

        Operation `orgs.update`: `PATCH /api/v1/orgs/:org_id`.
        """
        answer: t.Org = self._connection.call(
            "PATCH",
            "/api/v1/orgs/:org_id",
            path_values={"org_id": org_id},
            body=body,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        org_id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Delete an org that has no pending runs or active schedules.

        Operation `orgs.delete`: `DELETE /api/v1/orgs/:org_id`.
        """
        self._connection.call(
            "DELETE",
            "/api/v1/orgs/:org_id",
            path_values={"org_id": org_id},
            timeout=timeout,
        )


class Members:
    """Operations `members.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        org_id: str,
        body: t.MemberInput,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.Member:
        """Add a member to an org.

        Operation `members.create`: `POST /api/v1/orgs/:org_id/members`.
        """
        answer: t.Member = self._connection.call(
            "POST",
            "/api/v1/orgs/:org_id/members",
            path_values={"org_id": org_id},
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def list(
        self,
        org_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.MemberPage:
        """List the members of an org, newest first.

        Operation `members.list`: `GET /api/v1/orgs/:org_id/members`.
        """
        answer: t.MemberPage = self._connection.call(
            "GET",
            "/api/v1/orgs/:org_id/members",
            path_values={"org_id": org_id},
            query={
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def get(
        self,
        org_id: str,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Member:
        """Get a member.

        Operation `members.get`: `GET /api/v1/orgs/:org_id/members/:id`.
        """
        answer: t.Member = self._connection.call(
            "GET",
            "/api/v1/orgs/:org_id/members/:id",
            path_values={"org_id": org_id, "id": id},
            timeout=timeout,
        )
        return answer

    def update(
        self,
        org_id: str,
        id: str,
        body: t.MemberPatch,
        *,
        timeout: float | None = None,
    ) -> t.Member:
        """Update a member.

        Operation `members.update`: `PATCH /api/v1/orgs/:org_id/members/:id`.
        """
        answer: t.Member = self._connection.call(
            "PATCH",
            "/api/v1/orgs/:org_id/members/:id",
            path_values={"org_id": org_id, "id": id},
            body=body,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        org_id: str,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Remove a member.

        Operation `members.delete`: `DELETE /api/v1/orgs/:org_id/members/:id`.
        """
        self._connection.call(
            "DELETE",
            "/api/v1/orgs/:org_id/members/:id",
            path_values={"org_id": org_id, "id": id},
            timeout=timeout,
        )

    def invite(
        self,
        org_id: str,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.SignInLink:
        """Create a one-time sign-in link for a member, valid for ten minutes.

        Operation `members.invite`: `POST /api/v1/orgs/:org_id/members/:id/sign-in-link`.
        """
        answer: t.SignInLink = self._connection.call(
            "POST",
            "/api/v1/orgs/:org_id/members/:id/sign-in-link",
            path_values={"org_id": org_id, "id": id},
            timeout=timeout,
        )
        return answer


class Auth:
    """Operations `auth.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def sign_in(
        self,
        body: t.SignInInput,
        *,
        timeout: float | None = None,
    ) -> t.ConsoleSession:
        """Sign in with a link token or a key.

        Operation `auth.signIn`: `POST /api/v1/sign-in`.
        """
        answer: t.ConsoleSession = self._connection.call(
            "POST",
            "/api/v1/sign-in",
            body=body,
            timeout=timeout,
        )
        return answer

    def sign_out(
        self,
        *,
        timeout: float | None = None,
    ) -> None:
        """Sign out this browser.

        Operation `auth.signOut`: `POST /api/v1/sign-out`.
        """
        self._connection.call(
            "POST",
            "/api/v1/sign-out",
            timeout=timeout,
        )

    def link(
        self,
        *,
        timeout: float | None = None,
    ) -> t.SignInLink:
        """Create a one-time sign-in link, valid for ten minutes.

        Operation `auth.link`: `POST /api/v1/sign-in-links`.
        """
        answer: t.SignInLink = self._connection.call(
            "POST",
            "/api/v1/sign-in-links",
            timeout=timeout,
        )
        return answer

    def me(
        self,
        *,
        timeout: float | None = None,
    ) -> t.Me:
        """Get the caller and its permissions.

        Operation `auth.me`: `GET /api/v1/me`.
        """
        answer: t.Me = self._connection.call(
            "GET",
            "/api/v1/me",
            timeout=timeout,
        )
        return answer


class Audit:
    """Operations `audit.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(
        self,
        *,
        actor: str | None = None,
        action: str | None = None,
        object_kind: str | None = None,
        object_id: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.AuditPage:
        """List audit records, newest first.

        Operation `audit.list`: `GET /api/v1/audit`.
        """
        answer: t.AuditPage = self._connection.call(
            "GET",
            "/api/v1/audit",
            query={
                "actor": actor,
                "action": action,
                "object_kind": object_kind,
                "object_id": object_id,
                "from": from_,
                "to": to,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def verify(
        self,
        *,
        anchor: str | None = None,
        timeout: float | None = None,
    ) -> t.AuditVerdict:
        """Verify the audit chain of the org.

        Operation `audit.verify`: `GET /api/v1/audit/verify`.
        """
        answer: t.AuditVerdict = self._connection.call(
            "GET",
            "/api/v1/audit/verify",
            query={
                "anchor": anchor,
            },
            timeout=timeout,
        )
        return answer


class Tasks:
    """Operations `tasks.*`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def submit(
        self,
        body: t.TaskInput,
        *,
        wait: float | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.TaskReceipt:
        """Submit a task.

        Operation `tasks.submit`: `POST /tasks`.
        """
        answer: t.TaskReceipt = self._connection.call(
            "POST",
            "/tasks",
            query={
                "wait": wait,
            },
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def batch(
        self,
        body: t.TaskBatchInput,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.TaskBatchReceipt:
        """Submit tasks of one agent.

        Operation `tasks.batch`: `POST /tasks/batch`.
        """
        answer: t.TaskBatchReceipt = self._connection.call(
            "POST",
            "/tasks/batch",
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def submit_many(
        self,
        body: t.TasksInput,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.TaskBatchReceipt:
        """Submit up to 1,000 tasks.

        Operation `tasks.submitMany`: `POST /tasks/many`.
        """
        answer: t.TaskBatchReceipt = self._connection.call(
            "POST",
            "/tasks/many",
            body=body,
            creates=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def list(
        self,
        *,
        agent_id: str | None = None,
        state: str | Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> t.TaskList:
        """List tasks, newest first.

        Operation `tasks.list`: `GET /tasks`.
        """
        answer: t.TaskList = self._connection.call(
            "GET",
            "/tasks",
            query={
                "agentId": agent_id,
                "state": state,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        wait: float | None = None,
        timeout: float | None = None,
    ) -> t.Task:
        """Get a task.

        Operation `tasks.get`: `GET /tasks/:id`.
        """
        answer: t.Task = self._connection.call(
            "GET",
            "/tasks/:id",
            path_values={"id": id},
            query={
                "wait": wait,
            },
            timeout=timeout,
        )
        return answer

    def cancel(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.TaskCancelled:
        """Cancel a task.

        Operation `tasks.cancel`: `POST /tasks/:id/cancel`.
        """
        answer: t.TaskCancelled = self._connection.call(
            "POST",
            "/tasks/:id/cancel",
            path_values={"id": id},
            timeout=timeout,
        )
        return answer

    def stats(
        self,
        *,
        timeout: float | None = None,
    ) -> t.TaskStats:
        """Get the counts, statistics and limits of tasks.

        Operation `tasks.stats`: `GET /scheduler/stats`.
        """
        answer: t.TaskStats = self._connection.call(
            "GET",
            "/scheduler/stats",
            timeout=timeout,
        )
        return answer


class Operations:
    """Every operation of the API, by group."""

    def __init__(self, connection: Connection) -> None:
        self.probes = Probes(connection)
        self.schedules = Schedules(connection)
        self.import_ = Import(connection)
        self.as_code = AsCode(connection)
        self.backfills = Backfills(connection)
        self.runs = Runs(connection)
        self.explain = Explain(connection)
        self.callbacks = Callbacks(connection)
        self.sessions = Sessions(connection)
        self.agents = Agents(connection)
        self.heartbeat = Heartbeat(connection)
        self.workers = Workers(connection)
        self.worker = Worker(connection)
        self.budgets = Budgets(connection)
        self.providers = Providers(connection)
        self.targets = Targets(connection)
        self.channels = Channels(connection)
        self.hooks = Hooks(connection)
        self.secrets = Secrets(connection)
        self.deliveries = Deliveries(connection)
        self.alerts = Alerts(connection)
        self.lanes = Lanes(connection)
        self.nodes = Nodes(connection)
        self.stats = Stats(connection)
        self.config = Config(connection)
        self.keys = Keys(connection)
        self.orgs = Orgs(connection)
        self.members = Members(connection)
        self.auth = Auth(connection)
        self.audit = Audit(connection)
        self.tasks = Tasks(connection)
