"""The shapes of the API. Written by `npm run docs` from the table of operations; do not edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class Agent(TypedDict):
    id: str
    org_id: str
    name: str
    description: str
    executor: Executor
    retry_policy: RetryPolicy | None
    """Null: the default of its executor."""
    timeout_seconds: int | None
    max_concurrent: int | None
    context_window: int | None
    default_session: Any
    self_service: GuardRails | None
    provider: Any
    version: int
    created_at: str
    updated_at: str


class AgentInput(TypedDict):
    """A new agent. Session keys contain its id: `agent:<id>:…`."""

    name: str
    """Name of the agent."""
    description: NotRequired[str]
    """Free-text description."""
    executor: ExecutorInput
    retry_policy: NotRequired[RetryPolicyInput | None]
    """Retries of failed attempts. Default: the policy of the executor."""
    timeout_seconds: NotRequired[int | None]
    """Maximum duration of an attempt. Default: the timeout of the executor."""
    max_concurrent: NotRequired[int | None]
    """Maximum number of concurrent runs. Default: no limit."""
    context_window: NotRequired[int | None]
    """Context window of the model, in tokens. Beyond it, the oldest messages are left out."""
    default_session: NotRequired[str | None]
    """Default session, for messages that name none."""
    provider: NotRequired[str | None]
    """Provider that the agent calls. All agents with this provider share its quotas."""
    self_service: NotRequired[GuardRailsInput | None]
    """Limits for what the agent's attempts may create on their own. Null or omitted: attempts
    get no key and create nothing."""
    id: NotRequired[str]
    """Id, part of session keys. Default: generated. It cannot be changed."""


class AgentItem(TypedDict):
    """Without an id it is matched by name."""

    id: NotRequired[str]
    """Id. It cannot be changed. Default: matched by name; a budget by its subject, unit and
    period."""
    name: str
    """Name of the agent."""
    description: NotRequired[str]
    """Free-text description."""
    executor: ExecutorInput
    retry_policy: NotRequired[AgentItemRetryPolicy | None]
    """Retries of failed attempts. Default: the policy of the executor."""
    timeout_seconds: NotRequired[int | str | None]
    """Maximum duration of an attempt. Default: the timeout of the executor."""
    max_concurrent: NotRequired[int | None]
    """Maximum number of concurrent runs. Default: no limit."""
    context_window: NotRequired[int | None]
    """Context window of the model, in tokens. Beyond it, the oldest messages are left out."""
    default_session: NotRequired[str | None]
    """Default session, for messages that name none."""
    provider: NotRequired[str | None]
    """Provider that the agent calls. All agents with this provider share its quotas."""
    self_service: NotRequired[AgentItemSelfService | None]
    """Limits for what the agent's attempts may create on their own. Null or omitted: attempts
    get no key and create nothing."""


class AgentItemRetryPolicy(TypedDict):
    max_retries: NotRequired[int]
    """Maximum number of retries."""
    strategy: NotRequired[Literal["fixed", "exponential", "ladder"]]
    """How the waits grow."""
    base_ms: NotRequired[int | str]
    """First wait."""
    max_ms: NotRequired[int | str]
    """Longest wait. Not below `base_ms` if the waits grow."""
    jitter: NotRequired[float]
    """Random share of each wait, 0 to 1."""
    ladder_seconds: NotRequired[list[int | str]]
    """The waits before the first, second and later retries."""


class AgentItemSelfService(TypedDict):
    own_schedules_only: NotRequired[bool]
    """Whether the key can see and change only what it created. Default: true."""
    max_schedules: NotRequired[int]
    """Maximum number of schedules. Default: 10."""
    min_interval_seconds: NotRequired[int | str]
    """Minimum interval between occurrences of a schedule, and between its manual runs. Default:
    60."""
    max_runs_per_hour: NotRequired[int]
    """Maximum number per hour of manual runs, tasks, messages, and schedules created or
    rescheduled. Default: 60."""
    max_lifetime_seconds: NotRequired[int | str | None]
    """Maximum lifetime of what the key creates. Null or omitted: no limit."""
    budget: NotRequired[AgentItemSelfServiceBudget | None]
    """Budget of everything the key creates. Null or omitted: no limit."""
    approval: NotRequired[bool]
    """Whether what the key creates must be approved before it runs. Default: false."""


class AgentItemSelfServiceBudget(TypedDict):
    unit: Literal["tokens", "money"]
    """What is counted."""
    amount: float
    """Tokens, or money with up to six decimal places."""
    period: NotRequired[Literal["day", "month"]]
    """Default: `day`."""


class AgentOutcomes(TypedDict):
    """The last runs of agents, newest first."""

    items: list[AgentOutcomesItemsItem]


class AgentOutcomesItemsItem(TypedDict):
    agent_id: str
    runs: list[AgentOutcomesItemsItemRunsItem]


class AgentOutcomesItemsItemRunsItem(TypedDict):
    id: str
    status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"]
    created_at: str


class AgentPage(TypedDict):
    items: list[Agent]
    next_cursor: Any


class AgentPatch(TypedDict):
    """A change of an agent. The id cannot be changed."""

    name: NotRequired[str]
    """Name of the agent."""
    description: NotRequired[str]
    """Free-text description."""
    executor: NotRequired[ExecutorInput]
    retry_policy: NotRequired[RetryPolicyInput | None]
    """Retries of failed attempts. Default: the policy of the executor."""
    timeout_seconds: NotRequired[int | None]
    """Maximum duration of an attempt. Default: the timeout of the executor."""
    max_concurrent: NotRequired[int | None]
    """Maximum number of concurrent runs. Default: no limit."""
    context_window: NotRequired[int | None]
    """Context window of the model, in tokens. Beyond it, the oldest messages are left out."""
    default_session: NotRequired[str | None]
    """Default session, for messages that name none."""
    provider: NotRequired[str | None]
    """Provider that the agent calls. All agents with this provider share its quotas."""
    self_service: NotRequired[GuardRailsInput | None]
    """Limits for what the agent's attempts may create on their own. Null or omitted: attempts
    get no key and create nothing."""


AgentStats = TypedDict(
    "AgentStats",
    {
        "agent_id": "str",
        "from": "str",
        "to": "str",
        "total": "AgentStatsTotal",
        "days": "list[AgentStatsDaysItem]",
    },
)


class AgentStatsTotal(TypedDict):
    runs: int
    """Runs that were executed or cancelled."""
    success: int
    """Those that succeeded."""
    duration_p50_ms: Any
    """Median duration. Null: no run ended."""
    duration_p95_ms: Any
    """95th percentile of the duration."""
    tokens: float
    """Input and output tokens."""
    cost: float
    """In units of the currency."""


class AgentStatsDaysItem(TypedDict):
    at: str
    """Start of the day in UTC."""
    runs: int
    """Runs that were executed or cancelled."""
    success: int
    """Those that succeeded."""
    duration_p50_ms: Any
    """Median duration. Null: no run ended."""
    duration_p95_ms: Any
    """95th percentile of the duration."""
    tokens: float
    """Input and output tokens."""
    cost: float
    """In units of the currency."""


class AgentTest(TypedDict):
    """The result of testing an agent."""

    run_id: str
    """The run of the test."""
    status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"]
    """State of the run when the time was up; the run is then cancelled."""
    ok: bool
    """Whether the agent answered."""
    output: Any
    """Its answer."""
    error_code: Literal["executor_http_3xx", "executor_http_4xx", "executor_http_5xx", "network", "timeout", "callback_timeout", "node_lost", "node_shutdown", "executor_offline", "tab_unresolved", "tab_missing", "malformed_answer", "answer_too_large", "condition_failed", "agent_error", "command_failed", "outbound_refused", "secret_refused", "probe_failed", "budget", "internal"] | None
    problem: Any
    """Why the agent did not answer. Null: it answered."""
    duration_ms: int | None
    usage: Usage | None


class AgentTestInput(TypedDict):
    """A test message for an agent."""

    text: NotRequired[str]
    """Message to send. Default: Reply with OK."""
    wait_seconds: NotRequired[int]
    """How long to wait for the result. Default: 30."""


class AgentWork(TypedDict):
    """Pending work of an agent."""

    agent_id: str
    queued: int
    active: int


class Alert(TypedDict):
    """Something that needs attention. It clears itself when the cause is gone."""

    id: str
    org_id: str
    kind: Literal["failures_in_a_row", "occurrence_missed", "late", "budget_low", "budget_used_up", "budget_no_room", "engine_stalled", "delivery_disabled", "heartbeat_failing", "runs_unserved"]
    subject_kind: Literal["schedule", "budget", "node", "target", "agent"]
    subject_id: str
    subject_name: str
    """Name of the subject, or its id if the subject has no name or was deleted."""
    status: Literal["open", "cleared"]
    why: Why
    sentence: str
    raised_at: str
    cleared_at: str | None
    cleared_why: Why | None
    streak: int | None
    """Current number of consecutive failures. Null: not counted, or the alert is cleared."""
    last_error: Any
    """The error of the latest failure. Null: none is known."""
    agent_id: Any
    """Agent whose runs the alert is about. Null: the alert is not about runs."""
    acknowledged_at: str | None
    """When the alert was acknowledged."""
    acknowledged_by: Any
    """The principal that acknowledged the alert."""
    snoozed_until: str | None
    """Until this time, the alert does not need attention."""


class AlertAcknowledgement(TypedDict):
    """Whether the alert is acknowledged."""

    acknowledged: NotRequired[bool]
    """False: undo the acknowledgement. Default: true."""


class AlertPage(TypedDict):
    items: list[Alert]
    next_cursor: Any


class AlertRetry(TypedDict):
    """The result of retrying the failed runs behind an alert."""

    retried: int
    """The number of runs that were retried."""
    run_ids: list[str]
    """The new runs, in the order of the failed ones."""
    left: int
    """Failed runs of the streak that were not retried."""
    refused: Any
    """Why the first of those was refused. Null: the limit of 100 per request."""


class AlertSnooze(TypedDict):
    """Until when the alert is snoozed."""

    until: str | None
    """A future time. Null: end the snooze."""


class Alive(TypedDict):
    status: Literal["ok"]


class Approval(TypedDict):
    """A new schedule or a change that needs approval."""

    requested_by: str
    run_id: Any
    requested_at: str
    changes: dict[str, ApprovalChanges] | None
    """Last approved and proposed values by field. Null: the schedule is new."""
    rejected: ApprovalRejected | None


class ApprovalChanges(TypedDict):
    before: Any
    after: Any


class ApprovalRejected(TypedDict):
    by: str
    at: str
    reason: str


class AsCodeDocument(TypedDict):
    """The configuration of an org. Kinds that are left out are not changed."""

    version: Literal[1]
    """Version of the format."""
    agents: NotRequired[list[AgentItem]]
    """Agents. Omitted: agents are not changed."""
    targets: NotRequired[list[TargetItem]]
    """Targets. Omitted: targets are not changed."""
    schedules: NotRequired[list[ScheduleItem]]
    """Schedules. Omitted: schedules are not changed."""
    budgets: NotRequired[list[BudgetItem]]
    """Budgets. Omitted: budgets are not changed."""


class AuditPage(TypedDict):
    items: list[AuditRecord]
    next_cursor: Any


class AuditRecord(TypedDict):
    """A change: who made it, and the values before and after."""

    no: int
    """Sequence number within the org, without gaps."""
    org_id: str
    at: str
    actor: str
    """A key, a member, or the program itself (`library`, `system`, `signal`)."""
    action: AuditAction
    """`schedule.update`, `run.cancel`, …"""
    object: AuditRecordObject
    before: Any
    after: Any
    hash: str
    """SHA-256 of the previous hash and this record, in hexadecimal."""


class AuditRecordObject(TypedDict):
    kind: AuditedKind
    id: str


class AuditVerdict(TypedDict):
    """Result of verifying the audit chain."""

    ok: bool
    org_id: str
    records: int
    """Records checked."""
    head: AuditVerdictHead | None
    """The newest record and its hash. Store the hash elsewhere and pass it as an anchor next
    time."""
    faults: list[AuditVerdictFaultsItem]


class AuditVerdictHead(TypedDict):
    no: int
    hash: str


class AuditVerdictFaultsItem(TypedDict):
    kind: Literal["changed", "gap", "truncated", "anchor_missing"]
    no: int | None
    """The first record affected. Null: no stored record is."""
    message: str


Backfill = TypedDict(
    "Backfill",
    {
        "id": "Any",
        "org_id": "str",
        "schedule_id": "str",
        "state": "Literal['running', 'done', 'cancelled', 'failed', 'planned']",
        "why": "Why | None",
        "sentence": "Any",
        "from": "str",
        "to": "str",
        "which": "Literal['missing', 'failed', 'all']",
        "order": "Literal['oldest', 'newest']",
        "policy": "Literal['wait', 'beside']",
        "max_active": "int",
        "spacing_ms": "int",
        "lane": "Any",
        "stop_on_failures": "int | None",
        "deliver": "bool",
        "total": "int",
        "first": "str | None",
        "last": "str | None",
        "left_out": "BackfillLeftOut",
        "ended": "int",
        "in_flight": "int",
        "remaining": "int",
        "counts": "BackfillCounts",
        "run_ids": "list[str]",
        "runs_per_minute": "Any",
        "eta": "str | None",
        "expected": "BackfillExpected",
        "notes": "list[str]",
        "created_by": "str",
        "created_at": "str",
        "finished_at": "str | None",
    },
)


class BackfillLeftOut(TypedDict):
    """Occurrences in the range that are left out, by outcome."""

    not_run: int
    failed: int
    cancelled: int
    succeeded: int
    pending: int


class BackfillCounts(TypedDict):
    """Ended runs by status."""

    success: NotRequired[int]
    failed: NotRequired[int]
    timeout: NotRequired[int]
    cancelled: NotRequired[int]
    skipped: NotRequired[int]
    dropped: NotRequired[int]
    rejected: NotRequired[int]
    expired: NotRequired[int]


class BackfillExpected(TypedDict):
    """Estimates from when the backfill was created. Null: unknown."""

    at_once: int
    """Concurrent runs, as far as the schedule allows."""
    duration_ms: Any
    tokens: Any
    cost: Any


class BackfillCancel(TypedDict):
    """How to cancel a backfill."""

    running: NotRequired[Literal["finish", "cancel"]]
    """What happens to runs in progress. Default: `finish`. Queued runs are cancelled in any
    case."""


BackfillInput = TypedDict(
    "BackfillInput",
    {
        "from": "str | int",
        "to": "NotRequired[str | int]",
        "which": "NotRequired[Literal['missing', 'failed', 'all']]",
        "order": "NotRequired[Literal['oldest', 'newest']]",
        "policy": "NotRequired[Literal['wait', 'beside']]",
        "max_active": "NotRequired[int]",
        "spacing_ms": "NotRequired[int]",
        "lane": "NotRequired[str | None]",
        "stop_on_failures": "NotRequired[int | None]",
        "deliver": "NotRequired[bool]",
        "dry_run": "NotRequired[bool]",
    },
)


class BackfillPage(TypedDict):
    items: list[Backfill]
    next_cursor: Any


class Budget(TypedDict):
    """A budget and its usage. Amounts are tokens, or money in whole units."""

    id: str
    org_id: str
    scope: Literal["org", "agent", "schedule", "owner"]
    agent_id: Any
    schedule_id: Any
    owner: Any
    """The restricted key or the agent (`agent:<id>`) that the budget belongs to."""
    unit: Literal["tokens", "money"]
    amount: float
    period: Literal["day", "month"]
    timezone: str
    on_exceed: Literal["skip", "queue", "pause"]
    default_reserve: float
    spent: float
    """Used in the current period; `reserved` is set aside for runs in flight, `remaining` is
    left."""
    reserved: float
    remaining: float
    paused_at: str | None
    """When `pause` stopped new runs. Null: not paused."""
    alerts: list[Literal["budget_low", "budget_used_up", "budget_no_room"]]
    """Kinds of open alerts."""
    period_start: str
    period_end: str
    created_at: str


class BudgetEffect(TypedDict):
    """A budget before and after the change of the schedule."""

    before: BudgetForecast | None
    """Null: the schedule's own budget, which is new."""
    after: BudgetForecast


class BudgetForecast(TypedDict):
    """The forecast of a budget."""

    budget_id: str
    scope: Literal["org", "agent", "schedule", "owner"]
    agent_id: Any
    schedule_id: Any
    owner: Any
    """The restricted key or the agent (`agent:<id>`) that the budget belongs to."""
    unit: Literal["tokens", "money"]
    amount: float
    period: Literal["day", "month"]
    timezone: str
    on_exceed: Literal["skip", "queue", "pause"]
    paused: bool
    periods: list[ForecastPeriod]
    used_up_at: str | None
    """When the budget is first exhausted. Null: not within the forecast."""
    used_up_at_high: str | None
    """The same at the high estimate."""
    held_back_runs: float
    """Runs that the budget holds back within the forecast. Runs that wait and start in a later
    period are not counted."""
    incomplete: bool
    """Whether the usage of some runs is unknown, so that the budget may be exhausted earlier."""
    sentence: str
    """The forecast in a sentence."""


class BudgetInput(TypedDict):
    """The budget of an agent or a schedule, or of the whole org if neither is given."""

    unit: Literal["tokens", "money"]
    """What is counted."""
    agent_id: NotRequired[str]
    """Agent whose runs the budget limits."""
    schedule_id: NotRequired[str]
    """Schedule whose runs the budget limits."""
    amount: float
    """Tokens, or money with up to six decimal places."""
    on_exceed: NotRequired[Literal["skip", "queue", "pause"]]
    """What happens when the budget is used up. Default: `skip`."""
    default_reserve: NotRequired[float]
    """Amount reserved for a run whose usage is unknown."""
    period: NotRequired[Literal["day", "month"]]
    """Period of the budget. Default: `day`."""
    timezone: NotRequired[str]
    """Time zone of the budget's days and months. Default: the org's time zone."""


class BudgetItem(TypedDict):
    """Without an id it is matched by its subject, unit and period. `agent` and `schedule` are
    names or ids."""

    id: NotRequired[str]
    """Id. It cannot be changed. Default: matched by name; a budget by its subject, unit and
    period."""
    unit: Literal["tokens", "money"]
    """What is counted."""
    agent_id: NotRequired[str]
    """Agent whose runs the budget limits."""
    schedule_id: NotRequired[str]
    """Schedule whose runs the budget limits."""
    amount: float
    """Tokens, or money with up to six decimal places."""
    on_exceed: NotRequired[Literal["skip", "queue", "pause"]]
    """What happens when the budget is used up. Default: `skip`."""
    default_reserve: NotRequired[float]
    """Amount reserved for a run whose usage is unknown."""
    period: NotRequired[Literal["day", "month"]]
    """Period of the budget. Default: `day`."""
    timezone: NotRequired[str]
    """Time zone of the budget's days and months. Default: the org's time zone."""
    agent: NotRequired[str]
    """Name or id of the agent whose runs the budget limits."""
    schedule: NotRequired[str]
    """Name or id of the schedule whose runs the budget limits."""


class BudgetPage(TypedDict):
    items: list[Budget]
    next_cursor: Any


class BudgetPatch(TypedDict):
    """A change of a budget. Subject, unit, period and time zone cannot be changed."""

    amount: NotRequired[float]
    """Tokens, or money with up to six decimal places."""
    on_exceed: NotRequired[Literal["skip", "queue", "pause"]]
    """What happens when the budget is used up. Default: `skip`."""
    default_reserve: NotRequired[float]
    """Amount reserved for a run whose usage is unknown."""


class BulkAnswer(TypedDict):
    """The outcome for each schedule, in the order of the request."""

    items: list[BulkAnswerItemsItem]
    done: int
    refused: int


class BulkAnswerItemsItem(TypedDict):
    id: str
    ok: bool
    state: NotRequired[Literal["active", "paused", "finished", "failed", "pending_approval"]]
    """State of the schedule now. Omitted if it is gone or nothing was done."""
    code: NotRequired[RefusalCode]
    message: NotRequired[str]


class BulkInput(TypedDict):
    """One action on many schedules."""

    action: Literal["enable", "disable", "delete"]
    ids: list[str]


class Cadence(TypedDict):
    """A cadence with its defaults."""

    min_seconds: int
    max_seconds: int
    stretch: float
    quiet_after: int


class CadenceInput(TypedDict):
    """Only with every_seconds, which lies between min_seconds and max_seconds."""

    min_seconds: int
    max_seconds: int
    stretch: NotRequired[float]
    """Factor of one step. Default: 2. With 1, only proposals of agents change the interval."""
    quiet_after: NotRequired[int]
    """Quiet runs in a row before the first step. Default: 1."""


class CallbackAnswer(TypedDict):
    status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"]
    ignored: bool


class Channel(TypedDict):
    """A channel and its state."""

    id: str
    org_id: str
    name: str
    kind: Literal["telegram", "slack", "hook"]
    agent_id: str
    enabled: bool
    has_token: bool
    has_signing_secret: bool
    mode: Literal["polling", "webhook"] | None
    hears_all: Any
    open: Any
    allowed_users: list[str] | None
    allowed_chats: list[str] | None
    default_recipient: Any
    session: Any
    """Webhook only: template of the session; `text` is the template of the message."""
    text: Any
    lane: Any
    hook_path: str
    """Path for webhook requests."""
    username: Any
    """Username of the bot, once Telegram has reported it."""
    attended_by: Any
    """Node that polls the channel."""
    last_heard_at: str | None
    last_failed_at: str | None
    failure: Any
    """The last error."""
    created_by: Any
    created_at: str
    updated_at: str


class ChannelInput(TypedDict):
    """A new channel: a source of messages and the way back for replies. Fields depend on the
    kind."""

    name: str
    """Name, part of session keys: lowercase letters, digits, `-` and `_`. It cannot be changed."""
    kind: Literal["telegram", "slack", "hook"]
    """Kind of channel."""
    agent_id: str
    """The agent that answers."""
    enabled: NotRequired[bool]
    """Default: true."""
    token: NotRequired[str]
    """Token of the bot or app. Never shown."""
    signing_secret: NotRequired[str]
    """Secret that verifies requests from Slack or from callers of the webhook. Never shown."""
    mode: NotRequired[Literal["polling", "webhook"] | None]
    """How updates arrive: `polling` (default) or `webhook`."""
    hears_all: NotRequired[Any]
    """In groups, also receive messages that do not address the bot."""
    open: NotRequired[Any]
    """Accept messages from everyone. Default: only from `allowed_users` and `allowed_chats`."""
    allowed_users: NotRequired[list[str | int] | None]
    """Ids of users who may send direct messages."""
    allowed_chats: NotRequired[list[str | int] | None]
    """Ids of groups and channels to answer in."""
    default_recipient: NotRequired[str | None]
    """Recipient of messages to the channel that name no recipient."""
    session: NotRequired[str | None]
    """Webhook only: session of a request, as a template with `{{body.x}}`. Default: `main`."""
    text: NotRequired[str | None]
    """Webhook only: message to the agent, as a template. Default: the field `text` of the body,
    or the whole body."""
    lane: NotRequired[str | None]
    """Webhook only: lane of the runs it creates."""


class ChannelPage(TypedDict):
    items: list[Channel]
    next_cursor: Any


class ChannelPatch(TypedDict):
    """A change of a channel. Name and kind cannot be changed."""

    agent_id: NotRequired[str]
    """The agent that answers."""
    enabled: NotRequired[bool]
    """Default: true."""
    token: NotRequired[str]
    """Token of the bot or app. Never shown."""
    signing_secret: NotRequired[str]
    """Secret that verifies requests from Slack or from callers of the webhook. Never shown."""
    mode: NotRequired[Literal["polling", "webhook"] | None]
    """How updates arrive: `polling` (default) or `webhook`."""
    hears_all: NotRequired[Any]
    """In groups, also receive messages that do not address the bot."""
    open: NotRequired[Any]
    """Accept messages from everyone. Default: only from `allowed_users` and `allowed_chats`."""
    allowed_users: NotRequired[list[str | int] | None]
    """Ids of users who may send direct messages."""
    allowed_chats: NotRequired[list[str | int] | None]
    """Ids of groups and channels to answer in."""
    default_recipient: NotRequired[str | None]
    """Recipient of messages to the channel that name no recipient."""
    session: NotRequired[str | None]
    """Webhook only: session of a request, as a template with `{{body.x}}`. Default: `main`."""
    text: NotRequired[str | None]
    """Webhook only: message to the agent, as a template. Default: the field `text` of the body,
    or the whole body."""
    lane: NotRequired[str | None]
    """Webhook only: lane of the runs it creates."""


class ChannelTest(TypedDict):
    """Result of testing a channel."""

    ok: bool
    username: Any
    """Username of the bot, if the service reported it."""
    status_code: int | None
    message: Any


class ChecklistOption(TypedDict):
    text: str


class ChecklistOption2(TypedDict):
    file: str


class ClaimAnswer(TypedDict):
    worker_id: str
    lease_until: str
    """The worker counts as alive until then. Every claim and renewal extends it."""
    renew_seconds: float
    """How often to renew the lease while the worker holds attempts."""
    attempts: list[WorkerAttempt]
    cancel: list[WorkerCancel]


class ClaimInput(TypedDict):
    """Defaults: `capacity` 1, `wait_seconds` 20, no attempts held. The first answer contains
    the `worker_id`."""

    worker_id: NotRequired[str | None]
    """The id from the first answer. Omitted: a new worker."""
    name: NotRequired[str]
    """Name for people."""
    agents: list[str]
    """Agents whose attempts the worker takes."""
    capacity: NotRequired[int]
    """Maximum attempts at a time."""
    holding: NotRequired[list[str]]
    """Attempts that the worker is executing, so that the response can name those to stop."""
    draining: NotRequired[bool]
    """Whether the worker takes no more work and only finishes what it has."""
    wait_seconds: NotRequired[float]
    """How long to wait for work, in seconds."""


class ComingMoment(TypedDict):
    """A coming occurrence and its certainty."""

    at: str
    certainty: Literal["firm", "likely"]


class Config(TypedDict):
    """All settings with their values and sources."""

    file: Any
    values: dict[str, ConfigValues]


class ConfigValues(TypedDict):
    value: Any
    source: Literal["default", "file", "environment", "flag", "stored"]
    default: Any
    hot: bool
    after_restart: NotRequired[Any]


class ConfigPatch(TypedDict):
    """Settings that take effect at once."""

    server: NotRequired[ConfigPatchServer]
    lanes: NotRequired[ConfigPatchLanes]
    sessions: NotRequired[ConfigPatchSessions]
    tasks: NotRequired[ConfigPatchTasks]
    retry: NotRequired[ConfigPatchRetry]
    retention: NotRequired[ConfigPatchRetention]
    alerts: NotRequired[ConfigPatchAlerts]
    outbound: NotRequired[ConfigPatchOutbound]
    metrics: NotRequired[ConfigPatchMetrics]
    log: NotRequired[ConfigPatchLog]


class ConfigPatchServer(TypedDict):
    rate_limit: NotRequired[ConfigPatchServerRateLimit]
    limits: NotRequired[ConfigPatchServerLimits]


class ConfigPatchServerRateLimit(TypedDict):
    per_second: NotRequired[int | None]
    """Requests per second and key; every 16 KiB sent or received counts as one more; 0 is no
    limit. The default applies only if there is more than one org."""
    burst: NotRequired[int | None]
    """Requests that a key may send in a burst. Where only `per_second` is set, the same number."""


class ConfigPatchServerLimits(TypedDict):
    connections: NotRequired[int | None]
    """Maximum number of connections per node, limited by file descriptors."""
    streams: NotRequired[int | None]
    """Maximum number of event streams per node."""
    streams_per_org: NotRequired[int | None]
    """Maximum number of event streams per org and node."""
    sockets: NotRequired[int | None]
    """Maximum number of WebSockets per node."""
    sockets_per_org: NotRequired[int | None]
    """Maximum number of WebSockets per org and node."""


class ConfigPatchLanes(TypedDict):
    max_org_share: NotRequired[float | None]
    """Maximum share of a lane that one org may use on a node, if there is more than one org; at
    least one slot; 1 is no limit."""


class ConfigPatchSessions(TypedDict):
    mode: NotRequired[Literal["queue", "followup", "interrupt"] | None]
    """How to handle a message that arrives while others wait."""
    cap: NotRequired[int | None]
    """Maximum number of waiting runs in a session."""
    drop: NotRequired[Literal["old", "new"] | None]
    """Which run to drop when the session is full: the oldest waiting one, or the new one."""
    debounce_ms: NotRequired[int | None]
    """Merges messages of one sender that arrive within this window; 0 is off."""
    max_concurrent: NotRequired[int | None]
    """Maximum number of concurrent runs in a session."""


class ConfigPatchTasks(TypedDict):
    max_queue: NotRequired[int | None]
    """Maximum number of waiting tasks in an org."""
    max_per_agent: NotRequired[int | None]
    """Maximum number of waiting tasks per agent."""
    max_inflight: NotRequired[int | None]
    """Maximum number of concurrent tasks in an org."""
    max_per_agent_inflight: NotRequired[int | None]
    """Maximum number of concurrent tasks per agent."""
    result_ttl_seconds: NotRequired[int | None]
    """How long a task is kept after it ends."""
    default_deadline_seconds: NotRequired[int | None]
    """Deadline of tasks that set none."""


class ConfigPatchRetry(TypedDict):
    max_retries: NotRequired[int | None]
    """Maximum number of retries where neither schedule nor agent sets a policy."""
    base_ms: NotRequired[int | None]
    """First delay."""
    max_ms: NotRequired[int | None]
    """Maximum delay; must not be below `base_ms`."""
    jitter: NotRequired[float | None]
    """Random deviation of a delay, as a fraction of it."""


class ConfigPatchRetention(TypedDict):
    run_days: NotRequired[int | None | None]
    """How long runs are kept; null is forever."""
    runs_per_schedule: NotRequired[int | None]
    """Number of newest runs kept per schedule, regardless of age."""
    max_runs_per_schedule: NotRequired[int | None]
    """Maximum number of runs kept per schedule."""
    output_bytes: NotRequired[int | None]
    """Maximum length of stored outputs and errors; longer ones are cut."""


class ConfigPatchAlerts(TypedDict):
    failures_in_a_row: NotRequired[int | None]
    """Consecutive failures that raise an alert for a schedule without `alert_after`."""
    stall_periods: NotRequired[int | None]
    """Polling periods without a scan for due work after which the engine counts as stalled."""


class ConfigPatchOutbound(TypedDict):
    allow_hosts: NotRequired[list[str] | None]
    """Addresses that the outbound guard allows in addition."""
    allow_loopback: NotRequired[Any]
    """Whether agents may run on this machine. Does not apply to delivery targets, callbacks and
    probes: allow their addresses in outbound.allow_hosts."""


class ConfigPatchMetrics(TypedDict):
    unprefixed_names: NotRequired[Any]
    """Whether `/metrics` also shows `runs_total`, `task_overlap_skipped_total`,
    `task_failure_retry_total`, `task_timeout_total` and `concurrency_skipped_total` without
    the prefix `escapement_`."""


class ConfigPatchLog(TypedDict):
    level: NotRequired[Literal["debug", "info", "warn", "error", "silent"] | None]
    """Minimum level of log messages."""


class ConsoleSession(TypedDict):
    """The signed-in session of the console."""

    member: Member | None
    """Null: signed in with a key."""
    permissions: list[Literal["schedules:read", "schedules:write", "schedules:run", "schedules:delete", "tasks:read", "tasks:write", "runs:read", "runs:write", "sessions:read", "sessions:write", "agents:read", "agents:write", "workers:run", "targets:read", "targets:write", "budgets:read", "budgets:write", "secrets:read", "secrets:write", "keys:read", "keys:write", "audit:read", "admin:*"]]
    csrf_token: str
    """Send it in a header with every change."""
    expires_at: str


class CreatedOrg(TypedDict):
    """An org that was just created."""

    id: str
    name: str
    default_timezone: str
    default_agent_id: Any
    max_concurrent: int | None
    max_schedules: int | None
    runs_per_day: int | None
    max_timeout_seconds: int | None
    created_at: str
    first_key: NotRequired[CreatedOrgFirstKey]
    """Its first key, if requested. `key` is null if the request was repeated."""


class CreatedOrgFirstKey(TypedDict):
    """Its first key, if requested. `key` is null if the request was repeated."""

    id: str
    key: Any


class CrontabInput(TypedDict):
    """A crontab, and how to import it."""

    text: str
    """Content of the file."""
    plan: NotRequired[bool]
    """Only return the plan."""
    timezone: NotRequired[str | None]
    """Default time zone for entries that set none. Default: the org's time zone."""
    agent_id: NotRequired[str | None]
    """Agent that receives each line as a prompt."""
    target_id: NotRequired[str | None]
    """Target for results."""
    disabled: NotRequired[bool]
    """Create disabled schedules."""
    system: NotRequired[bool]
    """Whether lines have a user field, as in /etc/crontab."""


class Delivery(TypedDict):
    """The result of a run on its way to a receiver. Its status never changes the status of the
    run."""

    id: str
    org_id: str
    run_id: Any
    """Null for alerts and digests."""
    alert_id: Any
    """Alert that the delivery reports."""
    digest_id: Any
    """Digest that the message is part of. The message is delivered when the digest is."""
    digest: bool
    """Whether the delivery is a digest of messages held during quiet hours."""
    kind: Literal["target", "callback", "session", "channel"]
    to: Any
    """Session or channel recipient, if the delivery does not go to a target."""
    target_id: Any
    url: Any
    """URL of a callback."""
    status: Literal["pending", "held", "delivered", "failed", "kept"]
    message_id: str
    """Sent as `webhook-id` and `Idempotency-Key` with every attempt."""
    next_try_at: str | None
    why: Why
    sentence: str
    created_at: str
    finished_at: str | None
    tries: list[DeliveryTry]


class DeliveryItem(TypedDict):
    """The name of a target, or its id."""

    target: NotRequired[str]
    """Name or id of a target."""
    target_id: NotRequired[str]
    """Id of a target."""


class DeliveryPage(TypedDict):
    items: list[Delivery]
    next_cursor: Any


class DeliveryTry(TypedDict):
    """One attempt to deliver a message."""

    number: int
    node_id: str
    started_at: str
    finished_at: str
    duration_ms: int
    delivered: bool
    status_code: int | None
    error_code: Literal["http", "refused", "network", "timeout", "malformed", "smtp", "not_configured", "target_gone", "run_gone"] | None
    message: Any


class DraftInput(TypedDict):
    """Choices for a draft. Omitted: as proposed."""

    when: NotRequired[str]
    """The time in words: "every weekday at 9 in Berlin"."""
    timezone: NotRequired[str]
    """Default time zone for words that name none. Default: the org's time zone."""
    requirements: NotRequired[list[str]]
    """Ids of the proposed requirements to apply. Default: those that are `taken`."""
    output: NotRequired[str]
    """Requirements on the answer, in place of all proposed ones. Empty: none."""
    session: NotRequired[Literal["isolated", "conversation"]]
    """Whether runs start fresh or continue the conversation. Default: `isolated`."""


class EnabledTarget(TypedDict):
    """An enabled target, and the number of messages that were released."""

    id: str
    org_id: str
    name: str
    kind: Literal["webhook", "email", "slack", "telegram", "session"]
    url: Any
    """Null for kinds without one; truncated if the URL is a secret."""
    settings: dict[str, Any]
    quiet_hours: QuietHours | None
    alerts: bool
    enabled: bool
    disabled_at: str | None
    disabled_why: Why | None
    """Why the target was disabled. Null: by a user."""
    failures_in_a_row: int
    held: int
    """Messages held until it is enabled, or until its quiet hours end."""
    last_delivered_at: str | None
    last_failed_at: str | None
    created_by: Any
    created_at: str
    updated_at: str
    released: int


class Event(TypedDict):
    """An event. Ids increase in commit order within an org."""

    id: str
    kind: Literal["schedule.changed", "run.changed", "run.output", "message.merged", "message.dropped", "outbound", "delivery.changed", "lane.changed", "config.reloaded", "alert.raised", "alert.cleared", "alert.changed", "heartbeat.changed"]
    org_id: str
    at: str
    subject: str
    data: dict[str, Any]


class EventsInput(TypedDict):
    events: list[Any]
    """Text of the output, log lines (`type: log`) or steps, in order."""


class Executor(TypedDict):
    """The executor: a kind and its options."""

    kind: Literal["echo", "in-process", "http", "tab-action", "chat", "worker", "command"]


class ExecutorInputOption(TypedDict):
    kind: Literal["echo"]


class ExecutorInputOption2(TypedDict):
    kind: Literal["in-process"]


ExecutorInputOption3 = TypedDict(
    "ExecutorInputOption3",
    {
        "kind": "Literal['http']",
        "url": "str",
        "method": "NotRequired[Literal['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] | None]",
        "headers": "NotRequired[dict[str, str] | None]",
        "body": "NotRequired[Any]",
        "async": "NotRequired[Any]",
        "success_when": "NotRequired[ExecutorInputOption3SuccessWhen | None]",
    },
)


class ExecutorInputOption3SuccessWhen(TypedDict):
    status: NotRequired[list[int]]
    path: NotRequired[str]
    equals: NotRequired[Any]
    contains: NotRequired[Any]
    exists: NotRequired[bool]


class ExecutorInputOption4(TypedDict):
    kind: Literal["tab-action"]


class ExecutorInputOption5(TypedDict):
    kind: Literal["chat"]
    api: NotRequired[Literal["openai-chat", "openai-responses", "anthropic-messages", "ollama"] | None]
    base_url: str
    model: str
    api_key: NotRequired[str | None]
    system_prompt: NotRequired[str | None]
    temperature: NotRequired[float | None]
    max_tokens: NotRequired[int | None]
    stream: NotRequired[Any]
    background: NotRequired[Any]
    history: NotRequired[Any]
    prices: NotRequired[ExecutorInputOption5Prices | None]
    headers: NotRequired[dict[str, str] | None]
    body: NotRequired[dict[str, Any] | None]


class ExecutorInputOption5Prices(TypedDict):
    input: float
    output: float
    cached_input: NotRequired[float]
    cache_write: NotRequired[float]


class ExecutorInputOption6(TypedDict):
    kind: Literal["worker"]


class ExecutorInputOption7(TypedDict):
    kind: Literal["command"]
    program: str
    preset: NotRequired[Literal["codex", "claude", "gemini", "json-lines"] | None]
    args: NotRequired[list[str] | None]
    cwd: NotRequired[str | None]
    env: NotRequired[dict[str, str] | None]
    stdin: NotRequired[Any]
    resume: NotRequired[Any]
    service: NotRequired[str | None]
    output_bytes: NotRequired[int | None]


class ExplainFinding(TypedDict):
    """One finding of an explanation."""

    kind: Literal["occurrence", "schedule", "run", "heartbeat", "engine", "delivery", "alert", "target", "session", "agent", "nothing"]
    about: Any
    """Name of the schedule or id of the run that the finding is about. Null: nothing specific."""
    status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired", "pending", "held", "delivered", "kept"] | None
    """State of the run or delivery that the finding is about."""
    at: str | None
    """Null: it has no time."""
    reason: Reason
    rule: str
    """The rule as the docs write it: `overlap_action=SKIP`, `session.cap`, `gate:agent_limit`."""
    evidence: dict[str, Any]
    sentence: str
    policy: ExplainPolicy
    links: list[ExplainLink]


class ExplainLink(TypedDict):
    """An object mentioned in an explanation, with its API path and console page."""

    kind: Literal["run", "schedule", "session", "agent", "heartbeat", "lane", "budget", "target", "delivery", "alert", "node", "audit", "channel", "provider"]
    id: str
    role: str
    """The name of the fact (`previous_run`), or its relation (`schedule`)."""
    api: str
    """Path in the API."""
    console: str
    """Path in the console."""


class ExplainNext(TypedDict):
    """What happens next, and the possible actions."""

    sentence: str
    actions: list[ExplainNextActionsItem]


class ExplainNextActionsItem(TypedDict):
    action: Literal["cancel", "retry", "run_now", "enable", "change_schedule", "grow_lane", "change_agent", "see_workers", "see_budget", "see_provider", "stop_session", "change_session", "enable_target", "retry_delivery", "ask_moment"]
    """Machine-readable name."""
    sentence: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    command: str
    """The same as a CLI command."""


class ExplainPolicy(TypedDict):
    """The policy, limit or gate that decided, with its value and documentation page."""

    name: str
    value: Any
    """Null: the rule has no value, or the evidence has it."""
    documentation: str
    """Page of the documentation, relative to the repository root."""


class ExplainStep(TypedDict):
    """One check, in the order in which the engine makes them."""

    stage: Literal["plan", "admission", "policies", "gates", "execution", "delivery", "backfill"]
    name: str
    """`overlap`, `session_limit`, `attempt 2`, …"""
    state: Literal["passed", "closed", "not_reached"]
    sentence: Any
    """Result of the step. Null: nothing to report."""


class Explanation(TypedDict):
    """The answer to "why?", most relevant finding first."""

    asked: ExplanationAsked
    sentence: str
    findings: list[ExplainFinding]
    steps: list[ExplainStep]
    """Of a single object: the decisions about it."""
    next: ExplainNext | None
    nearest: ExplanationNearest | None
    """Of a time: what is planned before and after it."""
    looked_at: ExplanationLookedAt | None
    """Of a time. Null: the question was about a single object."""


ExplanationAsked = TypedDict(
    "ExplanationAsked",
    {
        "id": "Any",
        "at": "str | None",
        "local": "Any",
        "timezone": "Any",
        "timezone_from": "Literal['given', 'schedule', 'org'] | None",
        "from": "str | None",
        "to": "str | None",
    },
)


class ExplanationNearest(TypedDict):
    before: ExplanationNearestBefore | None
    after: ExplanationNearestAfter | None


class ExplanationNearestBefore(TypedDict):
    schedule_id: str
    name: str
    at: str


class ExplanationNearestAfter(TypedDict):
    schedule_id: str
    name: str
    at: str


class ExplanationLookedAt(TypedDict):
    schedules: int
    schedules_in_all: int
    runs: int
    complete: bool
    """False: not everything was searched. Name a schedule, agent or session, or a shorter time
    range."""


Forecast = TypedDict(
    "Forecast",
    {
        "from": "str",
        "to": "str",
        "timezone": "str",
        "total": "ForecastFigures",
        "held_back": "ForecastFigures",
        "days": "list[ForecastDay]",
        "sources": "list[ForecastSource]",
        "agents": "list[ForecastAgent]",
        "budgets": "list[BudgetForecast]",
        "notes": "list[str]",
    },
)


class ForecastAgent(TypedDict):
    """Expected usage of all runs of an agent."""

    runs: float
    tokens: ForecastAmount | None
    cost: ForecastAmount | None
    """Money in whole units."""
    agent_id: str


class ForecastAmount(TypedDict):
    """Expected usage, and a high estimate at the 95th percentile of recent runs."""

    expected: float
    high: float


class ForecastBasis(TypedDict):
    """What the estimate is based on, and how many runs were used."""

    tokens: Literal["schedule", "agent", "stated", "default_reserve", "unknown"]
    cost: Literal["schedule", "agent", "stated", "default_reserve", "unknown"]
    runs: int


class ForecastDay(TypedDict):
    """One calendar day in the time zone of the forecast."""

    runs: float
    tokens: ForecastAmount | None
    cost: ForecastAmount | None
    """Money in whole units."""
    date: str


class ForecastFigures(TypedDict):
    """Expected usage of a number of runs. Null: unknown."""

    runs: float
    tokens: ForecastAmount | None
    cost: ForecastAmount | None
    """Money in whole units."""


class ForecastPeriod(TypedDict):
    """A period of a budget: its usage by the end of the period or of the forecast."""

    start: str
    end: str
    expected: float
    high: float
    held_back: float
    """Usage of the runs that the budget holds back in this period."""


class ForecastSource(TypedDict):
    """A source of runs."""

    runs: float
    tokens: ForecastAmount | None
    cost: ForecastAmount | None
    """Money in whole units."""
    kind: Literal["schedule", "heartbeat", "chat", "tasks"]
    name: str
    schedule_id: Any
    agent_id: str
    held_back_runs: float
    """Runs that budgets prevent within the forecast. Not included in the figures."""
    based_on: ForecastBasis


class GivenDocument(TypedDict):
    """A document to apply. The plan lists the errors of each item."""

    version: Literal[1]
    """Version of the format."""
    agents: NotRequired[list[GivenDocumentAgentsItem] | None]
    """Agents as in `AsCodeDocument`. Omitted: agents are not changed."""
    targets: NotRequired[list[GivenDocumentTargetsItem] | None]
    """Targets as in `AsCodeDocument`. Omitted: targets are not changed."""
    schedules: NotRequired[list[GivenDocumentSchedulesItem] | None]
    """Schedules as in `AsCodeDocument`. Omitted: schedules are not changed."""
    budgets: NotRequired[list[GivenDocumentBudgetsItem] | None]
    """Budgets as in `AsCodeDocument`. Omitted: budgets are not changed."""


class GivenDocumentAgentsItem(TypedDict):
    id: NotRequired[str | None]


class GivenDocumentTargetsItem(TypedDict):
    id: NotRequired[str | None]


class GivenDocumentSchedulesItem(TypedDict):
    id: NotRequired[str | None]


class GivenDocumentBudgetsItem(TypedDict):
    id: NotRequired[str | None]


class GuardRails(TypedDict):
    """Limits of a restricted key."""

    own_schedules_only: bool
    max_schedules: int
    min_interval_seconds: int
    max_runs_per_hour: int
    max_lifetime_seconds: int | None
    budget: GuardRailsBudget | None
    approval: bool


class GuardRailsBudget(TypedDict):
    unit: Literal["tokens", "money"]
    amount: float
    period: Literal["day", "month"]
    """Default: `day`."""


class GuardRailsInput(TypedDict):
    """Limits of a restricted key, whatever its role permits."""

    own_schedules_only: NotRequired[bool]
    """Whether the key can see and change only what it created. Default: true."""
    max_schedules: NotRequired[int]
    """Maximum number of schedules. Default: 10."""
    min_interval_seconds: NotRequired[int]
    """Minimum interval between occurrences of a schedule, and between its manual runs. Default:
    60."""
    max_runs_per_hour: NotRequired[int]
    """Maximum number per hour of manual runs, tasks, messages, and schedules created or
    rescheduled. Default: 60."""
    max_lifetime_seconds: NotRequired[int | None]
    """Maximum lifetime of what the key creates. Null or omitted: no limit."""
    budget: NotRequired[GuardRailsInputBudget | None]
    """Budget of everything the key creates. Null or omitted: no limit."""
    approval: NotRequired[bool]
    """Whether what the key creates must be approved before it runs. Default: false."""


class GuardRailsInputBudget(TypedDict):
    unit: Literal["tokens", "money"]
    """What is counted."""
    amount: float
    """Tokens, or money with up to six decimal places."""
    period: NotRequired[Literal["day", "month"]]
    """Default: `day`."""


class Health(TypedDict):
    """The health of this node."""

    ready: bool
    database: Literal["up", "away"]
    away_since: str | None
    """Since when the database is unreachable. Null while it is up."""
    engine: Literal["up", "stalled"]
    """Whether the engine keeps scanning for due work."""
    draining: bool
    node_id: str


class Heartbeat(TypedDict):
    """The heartbeat of an agent."""

    agent_id: str
    org_id: str
    enabled: bool
    interval_seconds: int
    active_hours: HeartbeatActiveHours | None
    checklist: Checklist | None
    prompt: str
    target: str
    ack_max_chars: int
    session: str
    adaptive: HeartbeatAdaptive | None
    probe: Probe | None
    probe_counts: NotRequired[ProbeCounts]
    """How often the probe ran and what it saved. Only for a single heartbeat whose probe has
    run."""
    route: Any
    """Where a message would be sent now. Null: no route."""
    no_route: Any
    """Why there is no route, and how to fix it. Null: there is a route."""
    next_at: str | None
    """Next check. Null while the heartbeat is disabled."""
    ok_streak: int
    """Consecutive acknowledgements."""
    current_interval_seconds: int
    """The interval after adapting to the streak."""
    version: int
    """0: never set."""
    updated_at: str | None


class HeartbeatActiveHours(TypedDict):
    start: str
    end: str
    timezone: str


class HeartbeatAdaptive(TypedDict):
    ok_step: int
    max_interval_seconds: int


class HeartbeatInput(TypedDict):
    """The whole heartbeat: omitted fields take their defaults. Setting a checklist enables it
    unless `enabled` is false. Enabled without a checklist, it uses `<agent>/HEARTBEAT.md`
    below `heartbeat.checklist_dir` if that file exists."""

    enabled: NotRequired[Any]
    """Whether the heartbeat is enabled."""
    interval_seconds: NotRequired[int | None]
    """Interval between heartbeats."""
    active_hours: NotRequired[HeartbeatInputActiveHours | None]
    """Hours of the day in which heartbeats run."""
    prompt: NotRequired[str | None]
    """Prompt before the checklist."""
    checklist: NotRequired[Checklist | None]
    """Checklist of the agent."""
    target: NotRequired[str | None]
    """Where messages are sent: `last`, `none`, a channel, `channel:recipient`, or a target id."""
    ack_max_chars: NotRequired[int | None]
    """Maximum characters besides `HEARTBEAT_OK` in a reply that still counts as an
    acknowledgement."""
    session: NotRequired[str | None]
    """Session of the heartbeat's messages."""
    adaptive: NotRequired[bool | HeartbeatInputAdaptive2 | None]
    """Whether the interval grows while all heartbeats are acknowledged."""
    probe: NotRequired[Probe | None]
    """Probe that runs before the agent is woken, after all free checks."""


class HeartbeatInputActiveHours(TypedDict):
    start: str
    end: str
    timezone: NotRequired[Any]
    """Default: the time zone of the org."""


class HeartbeatInputAdaptive2(TypedDict):
    ok_step: NotRequired[int]
    max_interval_seconds: NotRequired[int]


class HeartbeatLog(TypedDict):
    items: list[HeartbeatLogEntry]
    next_cursor: Any


class HeartbeatLogEntry(TypedDict):
    """The outcome of one heartbeat."""

    id: str
    agent_id: str
    kind: Literal["planned", "asked"]
    """`asked`: requested or repeated by a person."""
    due_at: str | None
    at: str
    looks: int
    """How often it was checked while the agent was busy."""
    last_at: str
    outcome: Literal["skipped", "busy", "running", "suppressed", "news", "failed", "cancelled"]
    reason: Reason
    sentence: str
    why: Why
    target: str
    run_id: Any
    content: Any
    """The message as sent."""
    delivery_id: Any
    delivery_status: Literal["pending", "held", "delivered", "failed", "kept"] | None
    finished_at: str | None


class HeartbeatTest(TypedDict):
    """Whether the heartbeat ran, and if not, why."""

    ran: bool
    run_id: NotRequired[str]
    reason: NotRequired[Reason]
    sentence: str


class HookReceipt(TypedDict):
    """Outcome of a request to a channel."""

    run_id: Any
    """Run that handles the request. Null: there was nothing to handle."""
    outcome: Literal["accepted", "stopped", "ignored", "turned_away"]
    """Whether a run was created, runs were stopped, or the message was ignored."""
    duplicate: NotRequired[Literal[True]]
    """The message was received before; this is the run of the first one."""


class ImportInput(TypedDict):
    """A jobs file of OpenClaw, and how to import it."""

    text: str
    """Content of the file."""
    plan: NotRequired[bool]
    """Only return the plan."""
    timezone: NotRequired[str | None]
    """Default time zone for entries that set none. Default: the org's time zone."""
    agent_id: NotRequired[str | None]
    """Agent that receives each line as a prompt."""
    target_id: NotRequired[str | None]
    """Target for results."""
    disabled: NotRequired[bool]
    """Create disabled schedules."""


class ImportReport(TypedDict):
    """The outcome of an import, line by line."""

    source: Literal["crontab", "openclaw"]
    plan: bool
    timezone: str
    """Time zone used for lines that set none."""
    lines: list[ImportedLine]
    counts: ImportReportCounts


class ImportReportCounts(TypedDict):
    new: int
    changed: int
    unchanged: int
    refused: int
    taken: int
    left_out: int


class ImportedLine(TypedDict):
    """A line or job, and its outcome."""

    line: int
    """Line of the file, or number of the job."""
    column: int | None
    """Column of the error, from 1. Null: none, or unknown."""
    text: str
    outcome: Literal["new", "changed", "unchanged", "refused", "taken", "left_out"]
    name: Any
    schedule_id: Any
    """Null: not created yet."""
    agent_id: Any
    sentence: Any
    next_run_at: str | None
    notes: list[str]
    """What was not imported and why; of a refusal, what to do."""


class InlineExecutorOption(TypedDict):
    kind: Literal["echo"]


InlineExecutorOption2 = TypedDict(
    "InlineExecutorOption2",
    {
        "kind": "Literal['http']",
        "url": "str",
        "method": "NotRequired[Literal['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] | None]",
        "headers": "NotRequired[dict[str, str] | None]",
        "body": "NotRequired[Any]",
        "async": "NotRequired[Any]",
        "success_when": "NotRequired[InlineExecutorOption2SuccessWhen | None]",
    },
)


class InlineExecutorOption2SuccessWhen(TypedDict):
    status: NotRequired[list[int]]
    path: NotRequired[str]
    equals: NotRequired[Any]
    contains: NotRequired[Any]
    exists: NotRequired[bool]


class InlineExecutorOption3(TypedDict):
    kind: Literal["tab-action"]


class Invitation(TypedDict):
    """API access of an attempt of an agent with `self_service`."""

    api_url: Any
    """Base URL of the API. Null: this program does not listen."""
    mcp_url: Any
    key: str
    """Valid while the attempt is the current one of its run and in flight."""
    expires_at: str | None
    """Deadline of the attempt."""


class Key(TypedDict):
    """A key without its text, which is not stored."""

    id: str
    org_id: str
    name: str
    hint: str
    """The first characters of the key, to tell keys apart."""
    role: Literal["owner", "admin", "member", "viewer"]
    scopes: list[KeyScope] | None
    guard_rails: GuardRails | None
    origin: Literal["person", "start", "environment"]
    """Created by a user, created at the first start, or set in the environment."""
    state: Literal["active", "expired", "revoked"]
    created_by: Any
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None


class KeyInput(TypedDict):
    """A new key."""

    name: str
    """Name of the key."""
    role: NotRequired[Literal["owner", "admin", "member", "viewer"]]
    """Role of the key. Default: `member`."""
    scopes: NotRequired[list[KeyScope] | None]
    """Permissions, a subset of the role's permissions. Null or omitted: all of them."""
    expires_at: NotRequired[str | None]
    """When the key expires. Default: never."""
    guard_rails: NotRequired[GuardRailsInput | None]
    """Restrictions beyond the role. Null or omitted: none. They cannot be changed."""


class KeyPage(TypedDict):
    items: list[Key]
    next_cursor: Any


class Lane(TypedDict):
    """A lane of this node."""

    name: str
    concurrency: int
    active: int
    """Slots in use."""
    pending: int
    """Queued runs."""
    max_per_org: int | None
    """Slots that one org may use on a node. Null: all, because there is one org or
    `lanes.max_org_share` is 1."""
    largest_org: LaneLargestOrg | None
    """The org that uses the most slots on this node. Shown only to the operator, where orgs
    share lanes."""


class LaneLargestOrg(TypedDict):
    org_id: str
    held: int


class LanePage(TypedDict):
    items: list[Lane]
    next_cursor: Any


class LaneSize(TypedDict):
    concurrency: int


class Lineage(TypedDict):
    """Ancestors and children of a run."""

    run_id: str
    root_run_id: str
    """The topmost ancestor; the run itself if it has none."""
    depth: int
    """Number of ancestors."""
    ancestors: list[LineageNode]
    """Ancestors that are still stored and visible to the caller, topmost first."""
    self: LineageNode
    children: list[LineageNode]
    """Runs and schedules it created, oldest first. Ask for a child's lineage to go deeper."""
    next_cursor: Any


class LineageNode(TypedDict):
    """A run, or a schedule that a run created."""

    kind: Literal["run", "schedule"]
    id: str
    parent_run_id: Any
    """The parent run."""
    agent_id: str
    schedule_id: Any
    """Of a run: its schedule."""
    name: Any
    """Of a schedule: its name."""
    status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired", "active", "paused", "finished", "pending_approval"]
    trigger: Literal["message", "task", "schedule", "catchup", "heartbeat", "manual", "retry", "webhook"] | None
    created_at: str


class MadeKey(TypedDict):
    """The only response with the text of the key."""

    id: str
    org_id: str
    name: str
    hint: str
    """The first characters of the key, to tell keys apart."""
    role: Literal["owner", "admin", "member", "viewer"]
    scopes: list[KeyScope] | None
    guard_rails: GuardRails | None
    origin: Literal["person", "start", "environment"]
    """Created by a user, created at the first start, or set in the environment."""
    state: Literal["active", "expired", "revoked"]
    created_by: Any
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None
    key: Any


class Me(TypedDict):
    """The caller and its permissions."""

    id: str
    """The id of the key or the member."""
    kind: Literal["key", "member"]
    org: MeOrg
    role: Literal["owner", "admin", "member", "viewer"]
    permissions: list[Literal["schedules:read", "schedules:write", "schedules:run", "schedules:delete", "tasks:read", "tasks:write", "runs:read", "runs:write", "sessions:read", "sessions:write", "agents:read", "agents:write", "workers:run", "targets:read", "targets:write", "budgets:read", "budgets:write", "secrets:read", "secrets:write", "keys:read", "keys:write", "audit:read", "admin:*"]]
    """All permissions of the caller."""
    operator: bool
    """Whether the caller may change lanes, settings and orgs."""
    expires_at: str | None
    member: Member | None
    """Null for a key, or a session that was opened with one."""
    csrf_token: Any
    """Send it in a header with every change. Null for a key, which requires none."""


class MeOrg(TypedDict):
    id: str
    name: str


class Member(TypedDict):
    """A member."""

    id: str
    org_id: str
    name: str
    email: Any
    role: Literal["owner", "admin", "member", "viewer"]
    created_by: Any
    created_at: str
    updated_at: str
    last_sign_in_at: str | None


class MemberInput(TypedDict):
    """A new member."""

    name: str
    """Name of the member."""
    email: NotRequired[str | None]
    """Email address."""
    role: NotRequired[Literal["owner", "admin", "member", "viewer"]]
    """Role of the member. Default: `member`."""


class MemberPage(TypedDict):
    items: list[Member]
    next_cursor: Any


class MemberPatch(TypedDict):
    name: NotRequired[str]
    """Name of the member."""
    email: NotRequired[str | None]
    """Email address."""
    role: NotRequired[Literal["owner", "admin", "member", "viewer"]]
    """Role of the member."""


class Message(TypedDict):
    """A message of a session and its reply: one entry per run, whatever its trigger."""

    run_id: str
    trigger: Literal["message", "task", "schedule", "catchup", "heartbeat", "manual", "retry", "webhook"]
    message_ids: list[str]
    """Messages merged into the run, oldest first. Empty for other triggers."""
    sender: Any
    text: Any
    """Text of the message, or the prompt of the schedule. Null: not text."""
    attachments: list[Any]
    status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"]
    reason: Reason | None
    reply: Any
    """The reply. Null: none yet."""
    error_code: Literal["executor_http_3xx", "executor_http_4xx", "executor_http_5xx", "network", "timeout", "callback_timeout", "node_lost", "node_shutdown", "executor_offline", "tab_unresolved", "tab_missing", "malformed_answer", "answer_too_large", "condition_failed", "agent_error", "command_failed", "outbound_refused", "secret_refused", "probe_failed", "budget", "internal"] | None
    error_message: Any
    created_at: str
    started_at: str | None
    finished_at: str | None


class MessageInput(TypedDict):
    """A message. The texts `/stop` and `/stopall` are commands. A `message_id` that the same
    caller sent to the session within the last 24 hours repeats that message: nothing
    happens, and the answer contains its run."""

    text: str
    sender: NotRequired[str]
    """Sender of the message. Messages of one sender within the debounce time become one run."""
    attachments: NotRequired[list[Any]]
    message_id: NotRequired[str]
    """Message id set by the sender. A message with the same id within 24 hours is a repetition."""
    sent_at: NotRequired[str | int]
    lane: NotRequired[str]
    """Lane of the run."""
    mode: NotRequired[Literal["queue", "followup", "interrupt"]]
    """Queue mode, for this message only."""
    max_concurrent: NotRequired[int]
    debounce_ms: NotRequired[int]
    not_before: NotRequired[str | int]
    """Earliest time to start."""
    deadline: NotRequired[str | int]
    """Latest time to start."""
    parent_run_id: NotRequired[str]
    max_tokens: NotRequired[int]
    """Maximum tokens of the run; budgets reserve this amount."""


class MessagePage(TypedDict):
    items: list[Message]
    next_cursor: Any


class MessageReceipt(TypedDict):
    run_id: str
    message_id: str
    state: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"]
    position: int | None
    merged_into: NotRequired[str]
    dropped_run_id: NotRequired[str]
    duplicate: NotRequired[Literal[True]]
    """This `message_id` was sent before; this is the run of the first one."""


class MessagesAnswer(TypedDict):
    """The outcome of each message, in the order of the request: a receipt, the answer to
    `/stop` or `/stopall`, or why it was refused."""

    items: list[MessagesAnswerItemsItem | MessagesAnswerItemsItem2 | MessagesAnswerItemsItem3]
    accepted: int
    refused: int


class MessagesAnswerItemsItem(TypedDict):
    ok: Literal[True]
    run_id: str
    message_id: str
    state: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"]
    merged_into: NotRequired[str]
    dropped_run_id: NotRequired[str]
    duplicate: NotRequired[Literal[True]]
    """This `message_id` was sent before; this is the run of the first one."""


class MessagesAnswerItemsItem2(TypedDict):
    ok: Literal[True]
    stopped: int
    drained: int


class MessagesAnswerItemsItem3(TypedDict):
    ok: Literal[False]
    code: RefusalCode
    message: str
    run_id: NotRequired[str]
    """The run that records the refused message."""
    retry_after_seconds: NotRequired[int]


class MessagesInput(TypedDict):
    """Messages to any sessions."""

    messages: list[SessionMessageInput]


class Node(TypedDict):
    """A server process."""

    id: str
    started_at: str
    lease_until: str
    alive: bool
    draining: bool
    executors: list[str]
    """Executor kinds it can run."""
    scanned_at: str | None
    """When it last scanned for due work. Null: unknown."""


class NodePage(TypedDict):
    items: list[Node]
    next_cursor: Any


class OccurrenceExplanation(TypedDict):
    """What happened or will happen at an occurrence of a schedule, and why."""

    at: str
    run_id: Any
    status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"] | None
    reason: Reason
    rule: str
    """The rule as the docs write it: `overlap_action=SKIP`, `session.cap`, `gate:agent_limit`."""
    evidence: dict[str, Any]
    sentence: str
    policy: ExplainPolicy
    links: list[ExplainLink]
    steps: list[ExplainStep]
    next: ExplainNext


class Org(TypedDict):
    """An org."""

    id: str
    name: str
    default_timezone: str
    default_agent_id: Any
    max_concurrent: int | None
    max_schedules: int | None
    runs_per_day: int | None
    max_timeout_seconds: int | None
    created_at: str


class OrgInput(TypedDict):
    """A new org."""

    id: NotRequired[str]
    """Short name for paths and settings. Default: generated."""
    name: str
    """Name of the org."""
    default_timezone: NotRequired[str]
    """Time zone of the org's schedules, budgets and days. Default: the deployment's."""
    max_concurrent: NotRequired[int | None]
    """Maximum number of concurrent runs. Null or omitted: no limit."""
    max_schedules: NotRequired[int | None]
    """Maximum number of schedules. Null or omitted: no limit."""
    runs_per_day: NotRequired[int | None]
    """Maximum number of runs per day. Null or omitted: no limit."""
    max_timeout_seconds: NotRequired[int | None]
    """Maximum `timeout_seconds` of schedules, agents and attempts."""
    with_key: NotRequired[bool]
    """Also create an owner key, shown once in the response."""


class OrgPage(TypedDict):
    items: list[Org]
    next_cursor: Any


class OrgPatch(TypedDict):
    """A change of an org."""

    name: NotRequired[str]
    """Name of the org."""
    default_timezone: NotRequired[str]
    """Time zone of the org's schedules, budgets and days. Default: the deployment's."""
    max_concurrent: NotRequired[int | None]
    """Maximum number of concurrent runs. Null or omitted: no limit."""
    max_schedules: NotRequired[int | None]
    """Maximum number of schedules. Null or omitted: no limit."""
    runs_per_day: NotRequired[int | None]
    """Maximum number of runs per day. Null or omitted: no limit."""
    max_timeout_seconds: NotRequired[int | None]
    """Maximum `timeout_seconds` of schedules, agents and attempts."""
    default_agent_id: NotRequired[str | None]
    """Default agent."""


class Pace(TypedDict):
    """The current interval of a schedule with a cadence."""

    interval_seconds: float
    quiet_streak: int
    """Consecutive runs that found nothing new; `change_streak` is those that found something."""
    change_streak: int
    sentence: str
    """Example: "Between 5 minutes and 6 hours, now every 40 minutes after 3 quiet runs"."""
    because: PaceBecause
    proposed: PaceProposed | None
    """What the agent proposed, if that decided the next occurrence."""
    next: list[ComingMoment]
    """Empty while it is disabled or has no occurrence left."""
    recent: list[PaceRecentItem]
    """The last runs that affected the interval, newest first."""


class PaceBecause(TypedDict):
    reason: Reason
    rule: str
    """The rule as the docs write it: `overlap_action=SKIP`, `session.cap`, `gate:agent_limit`."""
    evidence: dict[str, Any]
    sentence: str


class PaceProposed(TypedDict):
    asked: str
    asked_seconds: float
    got_seconds: float
    clamped: bool


class PaceRecentItem(TypedDict):
    at: str
    run_id: str
    interval_seconds: float
    reason: Reason
    next: str


class Plan(TypedDict):
    """The changes that applying a document would make, or has made."""

    plan_id: str
    """Hash of the document and of the state it was compared with. It changes when either
    changes."""
    applied: bool
    prune: bool
    items: list[PlannedItem]
    counts: PlanCounts
    permissions: list[Literal["schedules:read", "schedules:write", "schedules:run", "schedules:delete", "tasks:read", "tasks:write", "runs:read", "runs:write", "sessions:read", "sessions:write", "agents:read", "agents:write", "workers:run", "targets:read", "targets:write", "budgets:read", "budgets:write", "secrets:read", "secrets:write", "keys:read", "keys:write", "audit:read", "admin:*"]]
    """Permissions that applying it requires."""


class PlanCounts(TypedDict):
    create: int
    update: int
    delete: int
    unchanged: int
    unmanaged: int
    flawed: int


class PlannedChange(TypedDict):
    """A changed field. Null: absent, or its default. Hidden values are shown as `***`."""

    field: str
    """Nested fields with dots: `retry_policy.base_ms`."""
    before: Any
    after: Any


class PlannedItem(TypedDict):
    """The planned change of one object."""

    kind: Literal["agent", "target", "schedule", "budget"]
    name: str
    """Of a budget: its subject, unit and period."""
    id: Any
    """Null: not created yet."""
    action: Literal["create", "update", "delete", "unchanged", "unmanaged"]
    pointer: Any
    """JSON pointer into the document. Null: stored, but not in the document."""
    changes: list[PlannedChange]
    flaws: list[PlannedItemFlawsItem]
    """Errors. While any item has one, nothing is applied."""


class PlannedItemFlawsItem(TypedDict):
    pointer: str
    """JSON pointer to the field of the body; for path and query parameters, `/` and the name."""
    message: str
    """Continues after the field's name: "must be a whole number"."""
    allowed: NotRequired[str]


class Preview(TypedDict):
    """The next occurrences of a schedule."""

    sentence: str
    next: list[str]
    dst_notes: list[PreviewDstNotesItem]
    coming: NotRequired[list[ComingMoment]]
    """The same occurrences with their certainty. Only with a cadence."""
    notes: NotRequired[list[str]]
    """Warnings, such as that it can never fire."""
    note_codes: NotRequired[list[ScheduleNote]]


class PreviewDstNotesItem(TypedDict):
    at: str
    zone: str
    kind: Literal["gap", "repeat"]
    offset_before: str
    offset_after: str
    effect: Literal["none", "skipped", "fires_after_gap", "shifted", "first_pass_only", "both_passes"]
    sentence: str


PreviewInput = TypedDict(
    "PreviewInput",
    {
        "name": "NotRequired[str | None]",
        "description": "NotRequired[str | None]",
        "agent_id": "NotRequired[str | None]",
        "executor": "NotRequired[InlineExecutor | None]",
        "at": "NotRequired[str | int | None]",
        "every_seconds": "NotRequired[int | None]",
        "anchor": "NotRequired[str | int | None]",
        "cron": "NotRequired[str | None]",
        "rrule": "NotRequired[str | None]",
        "timezone": "NotRequired[str | None]",
        "dst": "NotRequired[Literal['vixie', 'skip', 'shift', 'both'] | None]",
        "day_match": "NotRequired[Literal['or', 'and'] | None]",
        "payload": "NotRequired[Any]",
        "session": "NotRequired[str | None]",
        "lane": "NotRequired[str | None]",
        "enabled": "NotRequired[Any]",
        "misfire_policy": "NotRequired[Literal['FIRE_NOW', 'SKIP', 'CATCH_UP_LIMITED'] | None]",
        "catchup_limit": "NotRequired[int | None]",
        "overlap_action": "NotRequired[Literal['ALLOW', 'SKIP', 'CANCEL_PREV', 'PARALLEL', 'BUFFER_ONE'] | None]",
        "failure_action": "NotRequired[Literal['RUN_NEW', 'RETRY', 'SKIP', 'BACKOFF', 'HALF_OPEN'] | None]",
        "concurrency_policy": "NotRequired[Literal['QUEUE', 'SKIP', 'PARALLEL'] | None]",
        "max_concurrency": "NotRequired[int | None]",
        "queue_depth": "NotRequired[int | None]",
        "jitter_ms": "NotRequired[int | None]",
        "catchup_window_seconds": "NotRequired[int | None]",
        "max_parallel": "NotRequired[int | None]",
        "max_fires": "NotRequired[int | None]",
        "alert_after": "NotRequired[int | None]",
        "max_lateness_seconds": "NotRequired[int | None]",
        "failure_options": "NotRequired[PreviewInputFailureOptions | None]",
        "retry_policy": "NotRequired[RetryPolicyInput | None]",
        "timeout_seconds": "NotRequired[int | None]",
        "starts_at": "NotRequired[str | int | None]",
        "ends_at": "NotRequired[str | int | None]",
        "exclude": "NotRequired[list[str | PreviewInputExcludeItem2] | None]",
        "cadence": "NotRequired[CadenceInput | None]",
        "delete_after_run": "NotRequired[Any]",
        "delivery": "NotRequired[ScheduleDelivery | None]",
        "budget": "NotRequired[ScheduleBudgetInput | None]",
        "probe": "NotRequired[Probe | None]",
        "kind": "NotRequired[Literal['at', 'once', 'every', 'interval', 'cron', 'rrule'] | None]",
        "schedule_type": "NotRequired[Literal['at', 'once', 'every', 'interval', 'cron', 'rrule'] | None]",
        "cron_expr": "NotRequired[str | None]",
        "expr": "NotRequired[str | None]",
        "interval_seconds": "NotRequired[int | None]",
        "everyMs": "NotRequired[int | None]",
        "run_at": "NotRequired[str | int | None]",
        "atMs": "NotRequired[int | None]",
        "tz": "NotRequired[str | None]",
        "status": "NotRequired[Literal['ENABLED', 'DISABLED'] | None]",
        "count": "NotRequired[int | None]",
        "from": "NotRequired[str | int | None]",
    },
)


class PreviewInputFailureOptions(TypedDict):
    ladder_seconds: NotRequired[list[int]]
    """With `BACKOFF`: the waits after the first, second and later failures."""
    threshold: NotRequired[int]
    """With `HALF_OPEN`: consecutive failures after which occurrences are skipped. Default: 3."""
    cooldown_seconds: NotRequired[int]
    """With `HALF_OPEN`: how long occurrences are skipped. Default: 5 min."""


PreviewInputExcludeItem2 = TypedDict(
    "PreviewInputExcludeItem2",
    {
        "from": "str",
        "to": "str",
    },
)


class Probe(TypedDict):
    """A check before the agent is woken: `http` (`url`, `method`, `headers`, `body`), `command`
    (`program`, `args`, `directory`; a program the operator allows) or `state` (`of`). `when`
    is a condition on the answer: `{path, op, value}`, `{all: […]}`, `{any: […]}` or `{not:
    …}`. With `changed`, only a changed answer wakes the agent. `timeout_seconds` defaults to
    5."""

    kind: Literal["http", "command", "state"]
    url: NotRequired[str | None]
    """`http`: the URL to request."""
    method: NotRequired[Literal["GET", "HEAD", "POST"] | None]
    headers: NotRequired[dict[str, str] | None]
    body: NotRequired[str | None]
    program: NotRequired[str | None]
    """`command`: the program to start, one of those the operator allows."""
    args: NotRequired[list[str] | None]
    directory: NotRequired[str | None]
    of: NotRequired[ProbeOf | None]
    """`state`: the schedule or session to read. Default: this schedule."""
    when: NotRequired[Any]
    """Condition on the answer: `{path, op, value}`, `{all}`, `{any}` or `{not}`."""
    changed: NotRequired[Any]
    """Wake the agent only if the answer, or the value at this JSON pointer, has changed."""
    on_error: NotRequired[Literal["run", "fail"] | None]
    """If the probe fails: `run` (default) wakes the agent, `fail` ends the attempt."""
    timeout_seconds: NotRequired[int | None]


class ProbeOf(TypedDict):
    schedule_id: NotRequired[str]
    session: NotRequired[str]


class ProbeAnswer(TypedDict):
    """The probe of a run and its result."""

    answer: Literal["yes", "no", "error"]
    at: str
    asked: str
    sentence: str
    seen: str


class ProbeCounts(TypedDict):
    """How often a probe ran, and what it saved."""

    asked: int
    saved: int
    """How often the answer was no, so that the agent was not woken."""
    errors: int
    last_answer: Literal["yes", "no", "error"]
    last_sentence: str
    last_at: str
    last_run_id: str
    saved_tokens: Any
    """Estimate: skipped runs times the usage of the last runs. Null: no run reported its usage."""
    saved_cost: Any


class ProbeTry(TypedDict):
    """Result of trying a probe."""

    answer: Literal["yes", "no", "error"]
    wakes: bool
    """Whether the agent would be woken."""
    probe: str
    """A description of the probe."""
    asked: str
    """A short description of what the probe checks."""
    sentence: str
    """A description of the result."""
    seen: str
    """The answer, truncated."""
    duration_ms: int


class ProbeTryInput(TypedDict):
    """A probe to try."""

    probe: NotRequired[Probe | None]
    """Omitted: the probe of the schedule."""
    schedule_id: NotRequired[str | None]
    """The schedule to try it for. Nothing is recorded."""


class Problem(TypedDict):
    """Why a request was rejected (RFC 9457). `code` is stable; `errors` points to fields."""

    type: str
    title: str
    status: int
    detail: str
    code: RefusalCode
    request_id: str
    errors: NotRequired[list[ProblemErrorsItem]]
    run_id: NotRequired[str]
    """The run that records the rejected request."""
    details: NotRequired[dict[str, Any]]


class ProblemErrorsItem(TypedDict):
    pointer: str
    """JSON pointer to the field of the body; for path and query parameters, `/` and the name."""
    message: str
    """Continues after the field's name: "must be a whole number"."""
    allowed: NotRequired[str]


class Provider(TypedDict):
    """A provider with its remaining quotas and queued runs."""

    name: str
    """Name that agents refer to. It cannot be changed."""
    org_id: str
    requests_per_minute: int | None
    """Requests per minute, one per attempt. Null: unlimited."""
    tokens_per_minute: int | None
    """Tokens per minute, as runs report them. Null: unlimited."""
    max_concurrent: int | None
    """Concurrent attempts. Null: unlimited."""
    requests_left: int | None
    """Requests that may start now. Null: unlimited."""
    tokens_left: int | None
    """Tokens left; negative when overdrawn. Null: unlimited."""
    in_flight: int
    """Attempts in flight."""
    waiting: int
    """Queued runs."""
    closed: ProviderClosed | None
    """The exhausted quota and when it opens again. Null: open."""
    agents: list[str]
    """Ids of its agents, at most 100."""
    created_at: str
    updated_at: str


class ProviderClosed(TypedDict):
    quota: Literal["requests_per_minute", "tokens_per_minute", "retry_after", "back_off"]
    until: str


class ProviderInput(TypedDict):
    """A provider to create. Agents refer to it in their field `provider` and share its quotas."""

    requests_per_minute: NotRequired[int | None]
    """Requests per minute, one per attempt. Null: unlimited."""
    tokens_per_minute: NotRequired[int | None]
    """Tokens per minute, as runs report them. Null: unlimited."""
    max_concurrent: NotRequired[int | None]
    """Concurrent attempts. Null: unlimited."""
    name: str
    """Name that agents refer to. It cannot be changed."""


class ProviderPage(TypedDict):
    items: list[Provider]
    next_cursor: Any


class ProviderPatch(TypedDict):
    """Changes of the quotas of a provider."""

    requests_per_minute: NotRequired[int | None]
    """Requests per minute, one per attempt. Null: unlimited."""
    tokens_per_minute: NotRequired[int | None]
    """Tokens per minute, as runs report them. Null: unlimited."""
    max_concurrent: NotRequired[int | None]
    """Concurrent attempts. Null: unlimited."""


class ProviderWork(TypedDict):
    """Pending work of a provider, and its remaining quotas. Null: unlimited."""

    provider: str
    waiting: int
    in_flight: int
    requests_left: int | None
    tokens_left: int | None
    closed_until: str | None
    """Nothing starts before this time. Null: open."""


class QuietHours(TypedDict):
    start: str
    """Start, HH:MM."""
    end: str
    """End, HH:MM or 24:00. Before the start: on the next day."""
    timezone: str
    """IANA time zone."""


class RejectInput(TypedDict):
    """Why a proposal is rejected."""

    reason: str


class ResultInput(TypedDict):
    """The result of an attempt, in responses of agents, callbacks and reports of workers."""

    job_run_id: NotRequired[str]
    attempt_id: NotRequired[str]
    status: NotRequired[Literal["success", "failed", "timeout", "cancelled"]]
    session_id: NotRequired[str]
    message_id: NotRequired[str]
    error_code: NotRequired[str]
    error_message: NotRequired[str]
    output: NotRequired[Any]
    summary: NotRequired[Any]
    """Text or JSON."""
    usage: NotRequired[Usage]
    retryable: NotRequired[bool]
    retry_after_seconds: NotRequired[int]
    """After a failure: how long the agent was asked to wait. Its provider is closed until then."""
    next_check: NotRequired[Any]
    """When a heartbeat wants its next check: a time, or seconds from now. Ignored for other
    runs."""


class RetryInput(TypedDict):
    """How to retry a run, and what to change."""

    force: NotRequired[bool]
    """Also retry a run that succeeded."""
    payload: NotRequired[Any]
    """Another payload."""
    prompt: NotRequired[str]
    """Replace the prompt (the text of a message, or the prompt of a schedule). Cannot be
    combined with `payload`."""
    model: NotRequired[str]
    """Replace the agent's model (only for agents of kind `chat`)."""


class RetryPolicy(TypedDict):
    max_retries: int
    strategy: Literal["fixed", "exponential", "ladder"]
    base_ms: int
    max_ms: int
    jitter: float
    ladder_seconds: list[float]


class RetryPolicyInput(TypedDict):
    max_retries: NotRequired[int]
    """Maximum number of retries."""
    strategy: NotRequired[Literal["fixed", "exponential", "ladder"]]
    """How the waits grow."""
    base_ms: NotRequired[int]
    """First wait."""
    max_ms: NotRequired[int]
    """Longest wait. Not below `base_ms` if the waits grow."""
    jitter: NotRequired[float]
    """Random share of each wait, 0 to 1."""
    ladder_seconds: NotRequired[list[int]]
    """The waits before the first, second and later retries."""


class Run(TypedDict):
    """A run. Times are RFC 3339 in UTC."""

    id: str
    job_run_id: str
    org_id: str
    schedule_id: Any
    agent_id: str
    session_id: Any
    """The session of the run: `session_key`, or the session reported by its runtime if the run
    has one of its own."""
    session_key: Any
    """The session passed to its runtime. Runs of a schedule with `session: isolated` each have
    their own."""
    conversation: Any
    """The session to open: the reported one if it exists in the org, else `session_key`."""
    message_id: Any
    """Its first message; without one, the reply reported by its runtime."""
    trigger: Literal["message", "task", "schedule", "catchup", "heartbeat", "manual", "retry", "webhook"]
    status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"]
    reason: Reason | None
    """The latest reason."""
    lane: str
    priority: int
    nominal_time: str | None
    not_before: str | None
    deadline: str | None
    created_at: str
    started_at: str | None
    """Start of the first attempt."""
    finished_at: str | None
    duration_ms: int | None
    """From the start of the first attempt to the end, waits included. Null if the run has not
    ended or never started."""
    first_attempt: int
    attempt: int
    error_code: Literal["executor_http_3xx", "executor_http_4xx", "executor_http_5xx", "network", "timeout", "callback_timeout", "node_lost", "node_shutdown", "executor_offline", "tab_unresolved", "tab_missing", "malformed_answer", "answer_too_large", "condition_failed", "agent_error", "command_failed", "outbound_refused", "secret_refused", "probe_failed", "budget", "internal"] | None
    error_message: Any
    agent_error_code: Any
    """Error code reported by the runtime, if not one of `error_code`."""
    agent_session_id: Any
    """Session id as the runtime names it; `agent_message_id` is its reply."""
    agent_message_id: Any
    result_summary: Any
    """Text or JSON."""
    output: Any
    usage: Usage | None
    payload: Any
    payload_omitted: NotRequired[Literal[True]]
    """In lists: the payload is larger than 16 KiB and omitted. Get the item to see it."""
    payload_bytes: NotRequired[int]
    """Size of the omitted payload in bytes."""
    superseded: bool
    retry_of: Any
    parent_run_id: Any
    owner: Any
    """The restricted key or the agent (`agent:<id>`) that created it."""
    decision: Why
    """Why the run was created, skipped or held."""
    held_decision: Why | None
    """Why the run was held before `decision`. Null if it was never held."""


class RunComparison(TypedDict):
    """Two runs side by side."""

    a: Run
    b: Run
    changes: RunComparisonChanges
    payload: list[RunComparisonPayloadItem]
    """The payloads by line; JSON is indented."""
    output: list[RunComparisonOutputItem]
    """The outputs by line; JSON is indented."""


class RunComparisonChanges(TypedDict):
    duration_ms: Any
    """The value of `b` minus that of `a`. Null: one of them is unknown."""
    input_tokens: Any
    """The value of `b` minus that of `a`. Null: one of them is unknown."""
    output_tokens: Any
    """The value of `b` minus that of `a`. Null: one of them is unknown."""
    cost: Any
    """The value of `b` minus that of `a`. Null: one of them is unknown."""
    attempts: Any
    """The value of `b` minus that of `a`. Null: one of them is unknown."""


class RunComparisonPayloadItem(TypedDict):
    change: Literal["same", "removed", "added"]
    """`removed`: only in `a`; `added`: only in `b`."""
    text: str


class RunComparisonOutputItem(TypedDict):
    change: Literal["same", "removed", "added"]
    """`removed`: only in `a`; `added`: only in `b`."""
    text: str


class RunDetail(TypedDict):
    """A run with its attempts, deliveries and timeline."""

    id: str
    job_run_id: str
    org_id: str
    schedule_id: Any
    agent_id: str
    session_id: Any
    """The session of the run: `session_key`, or the session reported by its runtime if the run
    has one of its own."""
    session_key: Any
    """The session passed to its runtime. Runs of a schedule with `session: isolated` each have
    their own."""
    conversation: Any
    """The session to open: the reported one if it exists in the org, else `session_key`."""
    message_id: Any
    """Its first message; without one, the reply reported by its runtime."""
    trigger: Literal["message", "task", "schedule", "catchup", "heartbeat", "manual", "retry", "webhook"]
    status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"]
    reason: Reason | None
    """The latest reason."""
    lane: str
    priority: int
    nominal_time: str | None
    not_before: str | None
    deadline: str | None
    created_at: str
    started_at: str | None
    """Start of the first attempt."""
    finished_at: str | None
    duration_ms: int | None
    """From the start of the first attempt to the end, waits included. Null if the run has not
    ended or never started."""
    first_attempt: int
    attempt: int
    error_code: Literal["executor_http_3xx", "executor_http_4xx", "executor_http_5xx", "network", "timeout", "callback_timeout", "node_lost", "node_shutdown", "executor_offline", "tab_unresolved", "tab_missing", "malformed_answer", "answer_too_large", "condition_failed", "agent_error", "command_failed", "outbound_refused", "secret_refused", "probe_failed", "budget", "internal"] | None
    error_message: Any
    agent_error_code: Any
    """Error code reported by the runtime, if not one of `error_code`."""
    agent_session_id: Any
    """Session id as the runtime names it; `agent_message_id` is its reply."""
    agent_message_id: Any
    result_summary: Any
    """Text or JSON."""
    output: Any
    usage: Usage | None
    payload: Any
    payload_omitted: NotRequired[Literal[True]]
    """In lists: the payload is larger than 16 KiB and omitted. Get the item to see it."""
    payload_bytes: NotRequired[int]
    """Size of the omitted payload in bytes."""
    superseded: bool
    retry_of: Any
    parent_run_id: Any
    owner: Any
    """The restricted key or the agent (`agent:<id>`) that created it."""
    decision: Why
    """Why the run was created, skipped or held."""
    held_decision: Why | None
    """Why the run was held before `decision`. Null if it was never held."""
    attempts: list[RunDetailAttemptsItem]
    deliveries: list[Delivery]
    """Deliveries of its result."""
    timeline: list[RunDetailTimelineItem]
    why: Why
    edits: RunDetailEdits | None
    """What this retry changed. Null: nothing, or it is not a retry."""
    probe: ProbeAnswer | None
    """Result of the probe before the agent was woken. Null: no probe."""
    trace_id: Any
    """Trace id. Null: tracing was off."""


class RunDetailAttemptsItem(TypedDict):
    id: str
    number: int
    node_id: Any
    started_at: str
    finished_at: str | None
    status: Literal["success", "failed", "timeout", "cancelled"] | None
    """Outcome. Null while it is running."""
    error_code: Literal["executor_http_3xx", "executor_http_4xx", "executor_http_5xx", "network", "timeout", "callback_timeout", "node_lost", "node_shutdown", "executor_offline", "tab_unresolved", "tab_missing", "malformed_answer", "answer_too_large", "condition_failed", "agent_error", "command_failed", "outbound_refused", "secret_refused", "probe_failed", "budget", "internal"] | None
    error_message: Any
    agent_error_code: Any


class RunDetailTimelineItem(TypedDict):
    at: str
    status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"]
    reason: Reason | None
    attempt: int | None


class RunDetailEdits(TypedDict):
    parts: list[Literal["payload", "prompt", "model"]]
    model: Any


class RunExplanation(TypedDict):
    """Why a run is in its state and why it was created, in codes and in sentences."""

    run_id: str
    status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"]
    decision: Why
    held_decision: Why | None
    """Why the run was held before `decision`. Null if it was never held."""
    reason: Reason
    rule: str
    """The rule as the docs write it: `overlap_action=SKIP`, `session.cap`, `gate:agent_limit`."""
    evidence: dict[str, Any]
    sentence: str
    policy: ExplainPolicy
    links: list[ExplainLink]
    steps: list[ExplainStep]
    next: ExplainNext


class RunLogEntry(TypedDict):
    """What an attempt printed while it was running."""

    id: str
    """Unique within the run, as in `ids` of the event `run.output`."""
    attempt: int
    at: str
    kind: Literal["output", "log", "step"]
    """Words of the output, a log line, or any other JSON."""
    text: Any
    """The words, or the message of the log line."""
    level: Literal["debug", "info", "warn", "error"] | None
    source: Any
    """Where a log line comes from, such as `stderr`."""
    data: Any
    """The fields of a log line, or the step."""


class RunLogPage(TypedDict):
    items: list[RunLogEntry]
    next_cursor: Any


class RunNowAnswer(TypedDict):
    ran: bool
    run_id: NotRequired[str]
    reason: NotRequired[Literal["not-due"]]


class RunPage(TypedDict):
    items: list[Run]
    next_cursor: Any


class Schedule(TypedDict):
    """A schedule with its defaults and its state."""

    timezone: str
    at: NotRequired[str]
    every_seconds: NotRequired[int]
    everyMs: NotRequired[int]
    """In place of `every_seconds`, for intervals that are not whole seconds."""
    anchor: NotRequired[str]
    cron: NotRequired[str]
    dst: NotRequired[Literal["vixie", "skip", "shift", "both"]]
    day_match: NotRequired[Literal["or", "and"]]
    rrule: NotRequired[str]
    starts_at: NotRequired[str]
    ends_at: NotRequired[str]
    exclude: NotRequired[list[str | ScheduleExcludeItem2]]
    cadence: NotRequired[Cadence]
    schedule_type: NotRequired[Literal["cron", "interval", "once", "rrule"]]
    cron_expr: NotRequired[str]
    interval_seconds: NotRequired[float]
    run_at: NotRequired[str]
    misfire_policy: Literal["FIRE_NOW", "SKIP", "CATCH_UP_LIMITED"]
    """What happens after missed occurrences."""
    catchup_limit: int
    """How many missed occurrences are caught up, newest first."""
    overlap_action: Literal["ALLOW", "SKIP", "CANCEL_PREV", "PARALLEL", "BUFFER_ONE"]
    """What happens while the previous run is pending."""
    failure_action: Literal["RUN_NEW", "RETRY", "SKIP", "BACKOFF", "HALF_OPEN"]
    """What happens after a failed run."""
    concurrency_policy: Literal["QUEUE", "SKIP", "PARALLEL"]
    """What happens when all slots of the schedule are taken."""
    max_concurrency: int
    """Slots of the schedule."""
    queue_depth: int
    """How many runs may wait for a slot."""
    jitter_ms: int
    """Maximum delay of a start. An occurrence always gets the same delay."""
    catchup_window_seconds: int | None
    """Maximum age of a missed occurrence that is caught up. Default: 15 min."""
    max_parallel: int | None
    """With `PARALLEL`: maximum number of concurrent runs. Default: no limit."""
    max_fires: int | None
    """Number of runs after which the schedule ends. Default: no limit."""
    alert_after: int | None
    """Consecutive failures that raise an alert. Default: the deployment's setting."""
    max_lateness_seconds: int | None
    """Maximum lateness of a run before an alert is raised. Default: no limit."""
    failure_options: ScheduleFailureOptions
    """Options for `failure_action`."""
    id: str
    org_id: str
    name: str
    description: str
    agent_id: Any
    """Null: the schedule has its own executor."""
    executor: Executor | None
    kind: Literal["at", "every", "cron", "rrule"]
    sentence: str
    state: Literal["active", "paused", "finished", "failed", "pending_approval"]
    enabled: bool
    next_run_at: str | None
    pace: Pace | None
    """Current interval. Null without a cadence."""
    last_run_at: str | None
    last_status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"] | None
    last_error: Any
    failure_streak: int
    failure_count: int
    alerts: list[Literal["failures_in_a_row", "occurrence_missed", "late"]]
    """Kinds of open alerts."""
    fires: int
    """Occurrences that became runs."""
    session: str
    lane: Any
    retry_policy: RetryPolicy | None
    """Null: the default of the agent or executor."""
    timeout_seconds: int | None
    delete_after_run: bool
    payload: Any
    payload_omitted: NotRequired[Literal[True]]
    """In lists: the payload is larger than 16 KiB and omitted. Get the item to see it."""
    payload_bytes: NotRequired[int]
    """Size of the omitted payload in bytes."""
    delivery: ScheduleDelivery | None
    delivery_disabled: bool
    """Whether the target is disabled, so that results are held."""
    budget: ScheduleBudget | None
    """Its own budget."""
    probe: Probe | None
    """Check that runs before the agent does."""
    probe_counts: NotRequired[ProbeCounts]
    """How often the probe ran and what it saved. Only of a single schedule, once it has run."""
    created_by: Any
    owner: Any
    """The restricted key or the agent (`agent:<id>`) that created it."""
    created_by_run: Any
    """Run that created the schedule, or that the schedule was created from."""
    approval: Approval | None
    """The change that needs approval, or was rejected."""
    created_at: str
    updated_at: str
    version: int
    notes: NotRequired[list[str]]
    """Values filled in by restrictions (only when it is created), and whether it can never fire
    (only of a single schedule)."""
    note_codes: NotRequired[list[ScheduleNote]]
    """The same notes as codes with values, for translation."""


ScheduleExcludeItem2 = TypedDict(
    "ScheduleExcludeItem2",
    {
        "from": "str",
        "to": "str",
    },
)


class ScheduleFailureOptions(TypedDict):
    """Options for `failure_action`."""

    ladder_seconds: list[int]
    """With `BACKOFF`: the waits after the first, second and later failures."""
    threshold: int
    """With `HALF_OPEN`: consecutive failures after which occurrences are skipped. Default: 3."""
    cooldown_seconds: int
    """With `HALF_OPEN`: how long occurrences are skipped. Default: 5 min."""


class ScheduleBudget(TypedDict):
    """The budget of a schedule; `GET /budgets/:id` shows its usage."""

    id: str
    unit: Literal["tokens", "money"]
    amount: float
    period: Literal["day", "month"]
    timezone: str
    on_exceed: Literal["skip", "queue", "pause"]
    default_reserve: float


class ScheduleBudgetInput(TypedDict):
    """What the runs of the schedule may use. Setting it also requires budgets:write."""

    unit: Literal["tokens", "money"]
    """What is counted."""
    amount: float
    """Tokens, or money with up to six decimal places."""
    on_exceed: NotRequired[Literal["skip", "queue", "pause"]]
    """What happens when the budget is used up. Default: `skip`."""
    default_reserve: NotRequired[float]
    """Amount reserved for a run whose usage is unknown."""
    period: NotRequired[Literal["day", "month"]]
    """Period of the budget. Default: `day`."""
    timezone: NotRequired[str]
    """Time zone of the budget's days and months. Default: the org's time zone."""


class ScheduleDelivery(TypedDict):
    """The target for the results of a schedule."""

    target_id: str


class ScheduleDraft(TypedDict):
    """Fields of a schedule. Add a timing if they contain none, and send them to `POST
    /api/v1/schedules`."""

    name: str
    agent_id: NotRequired[str]
    """Omitted if the agent is gone, or was only a name on a task."""
    payload: Any
    timezone: str
    session: NotRequired[str]
    """The session to continue. Omitted: each run has its own."""
    timeout_seconds: NotRequired[int]
    """Set when the run took so long that the default would be tight."""
    delivery: NotRequired[ScheduleDelivery]
    cron: NotRequired[str]
    every_seconds: NotRequired[float]
    rrule: NotRequired[str]
    at: NotRequired[str | int]
    anchor: NotRequired[str | int]
    starts_at: NotRequired[str | int]
    ends_at: NotRequired[str | int]
    max_fires: NotRequired[int]
    exclude: NotRequired[list[str | ScheduleDraftExcludeItem2]]


ScheduleDraftExcludeItem2 = TypedDict(
    "ScheduleDraftExcludeItem2",
    {
        "from": "str",
        "to": "str",
    },
)


ScheduleForecast = TypedDict(
    "ScheduleForecast",
    {
        "from": "str",
        "to": "str",
        "timezone": "str",
        "figures": "ForecastFigures",
        "held_back": "ForecastFigures",
        "before": "ForecastFigures | None",
        "based_on": "ForecastBasis",
        "budgets": "list[BudgetEffect]",
        "warnings": "list[str]",
        "notes": "list[str]",
    },
)


class ScheduleForecastInput(TypedDict):
    """The fields of a new schedule, or with `id` the changes of an existing one."""

    name: NotRequired[str | None]
    """Name of the schedule."""
    description: NotRequired[str | None]
    """Free-text description."""
    agent_id: NotRequired[str | None]
    """Agent that does the work. Default: the default agent of the org."""
    executor: NotRequired[InlineExecutor | None]
    """Executor to use instead of an agent. Runs without an agent are retried only with a
    `retry_policy`."""
    at: NotRequired[str | int | None]
    """Run once at this time: RFC 3339, or Unix time in milliseconds."""
    every_seconds: NotRequired[int | None]
    """Interval between occurrences, counted from `anchor`."""
    anchor: NotRequired[str | int | None]
    """Start of the interval or recurrence. Default: when the schedule was created."""
    cron: NotRequired[str | None]
    """Cron expression of 5, 6 (with seconds) or 7 fields (with years), or a shortcut such as
    `@daily`."""
    rrule: NotRequired[str | None]
    """Recurrence rule as in RFC 5545."""
    timezone: NotRequired[str | None]
    """IANA time zone. Default: the org's time zone."""
    dst: NotRequired[Literal["vixie", "skip", "shift", "both"] | None]
    """What happens at times that a clock change skips or repeats. Default: `vixie`."""
    day_match: NotRequired[Literal["or", "and"] | None]
    """Whether a day must match one of the two day fields (`or`, default) or both (`and`)."""
    payload: NotRequired[Any]
    """Input of the agent: text or JSON."""
    session: NotRequired[str | None]
    """`isolated` (default), `main`, or a session key."""
    lane: NotRequired[str | None]
    """Lane whose slots the runs use. Default: the lane of scheduled work."""
    enabled: NotRequired[Any]
    """Whether the schedule fires. Default: true."""
    misfire_policy: NotRequired[Literal["FIRE_NOW", "SKIP", "CATCH_UP_LIMITED"] | None]
    """What happens after missed occurrences. Default: `CATCH_UP_LIMITED`."""
    catchup_limit: NotRequired[int | None]
    """How many missed occurrences are caught up, newest first. Default: 1."""
    overlap_action: NotRequired[Literal["ALLOW", "SKIP", "CANCEL_PREV", "PARALLEL", "BUFFER_ONE"] | None]
    """What happens while the previous run is pending. Default: `ALLOW`."""
    failure_action: NotRequired[Literal["RUN_NEW", "RETRY", "SKIP", "BACKOFF", "HALF_OPEN"] | None]
    """What happens after a failed run. Default: `RUN_NEW`."""
    concurrency_policy: NotRequired[Literal["QUEUE", "SKIP", "PARALLEL"] | None]
    """What happens when all slots of the schedule are taken. Default: `QUEUE`."""
    max_concurrency: NotRequired[int | None]
    """Slots of the schedule. Default: 1."""
    queue_depth: NotRequired[int | None]
    """How many runs may wait for a slot. Default: 10."""
    jitter_ms: NotRequired[int | None]
    """Maximum delay of a start. An occurrence always gets the same delay. Default: 0."""
    catchup_window_seconds: NotRequired[int | None]
    """Maximum age of a missed occurrence that is caught up. Default: 15 min."""
    max_parallel: NotRequired[int | None]
    """With `PARALLEL`: maximum number of concurrent runs. Default: no limit."""
    max_fires: NotRequired[int | None]
    """Number of runs after which the schedule ends. Default: no limit."""
    alert_after: NotRequired[int | None]
    """Consecutive failures that raise an alert. Default: the deployment's setting."""
    max_lateness_seconds: NotRequired[int | None]
    """Maximum lateness of a run before an alert is raised. Default: no limit."""
    failure_options: NotRequired[ScheduleForecastInputFailureOptions | None]
    """Options for `failure_action`."""
    retry_policy: NotRequired[RetryPolicyInput | None]
    """Retries of failed attempts. Default: the policy of the agent."""
    timeout_seconds: NotRequired[int | None]
    """Maximum duration of an attempt. Default: the timeout of the agent."""
    starts_at: NotRequired[str | int | None]
    """No occurrence before this time."""
    ends_at: NotRequired[str | int | None]
    """No occurrence at or after this time."""
    exclude: NotRequired[list[str | ScheduleForecastInputExcludeItem2] | None]
    """Dates such as `2026-12-25`, and windows `{from, to}`, without occurrences."""
    cadence: NotRequired[CadenceInput | None]
    """Bounds within which the interval adapts. Default: the interval stays fixed. Only with
    `every_seconds`."""
    delete_after_run: NotRequired[Any]
    """Delete a one-time schedule after its run."""
    delivery: NotRequired[ScheduleDelivery | None]
    """Target for results. Default: none."""
    budget: NotRequired[ScheduleBudgetInput | None]
    """Budget of the schedule. Default: no limit."""
    probe: NotRequired[Probe | None]
    """Check that runs before the agent does. Default: none."""
    kind: NotRequired[Literal["at", "once", "every", "interval", "cron", "rrule"] | None]
    """Kind of timing. Default: that of the timing field given."""
    schedule_type: NotRequired[Literal["at", "once", "every", "interval", "cron", "rrule"] | None]
    """Same as `kind`."""
    cron_expr: NotRequired[str | None]
    """Same as `cron`."""
    expr: NotRequired[str | None]
    """Same as `cron`."""
    interval_seconds: NotRequired[int | None]
    """Same as `every_seconds`."""
    everyMs: NotRequired[int | None]
    """Same as `every_seconds`, in milliseconds."""
    run_at: NotRequired[str | int | None]
    """Same as `at`."""
    atMs: NotRequired[int | None]
    """Same as `at`, as Unix time in milliseconds."""
    tz: NotRequired[str | None]
    """Same as `timezone`."""
    status: NotRequired[Literal["ENABLED", "DISABLED"] | None]
    """`ENABLED` or `DISABLED` (case-insensitive); same as `enabled` true or false."""
    id: NotRequired[str | None]
    """The schedule to change. Omitted: a new schedule."""
    days: NotRequired[int | None]


class ScheduleForecastInputFailureOptions(TypedDict):
    ladder_seconds: NotRequired[list[int]]
    """With `BACKOFF`: the waits after the first, second and later failures."""
    threshold: NotRequired[int]
    """With `HALF_OPEN`: consecutive failures after which occurrences are skipped. Default: 3."""
    cooldown_seconds: NotRequired[int]
    """With `HALF_OPEN`: how long occurrences are skipped. Default: 5 min."""


ScheduleForecastInputExcludeItem2 = TypedDict(
    "ScheduleForecastInputExcludeItem2",
    {
        "from": "str",
        "to": "str",
    },
)


class ScheduleInput(TypedDict):
    """Exactly one of at, every_seconds, cron and rrule is required; every other field has a
    default, which null restores."""

    name: NotRequired[str | None]
    """Name of the schedule."""
    description: NotRequired[str | None]
    """Free-text description."""
    agent_id: NotRequired[str | None]
    """Agent that does the work. Default: the default agent of the org."""
    executor: NotRequired[InlineExecutor | None]
    """Executor to use instead of an agent. Runs without an agent are retried only with a
    `retry_policy`."""
    at: NotRequired[str | int | None]
    """Run once at this time: RFC 3339, or Unix time in milliseconds."""
    every_seconds: NotRequired[int | None]
    """Interval between occurrences, counted from `anchor`."""
    anchor: NotRequired[str | int | None]
    """Start of the interval or recurrence. Default: when the schedule was created."""
    cron: NotRequired[str | None]
    """Cron expression of 5, 6 (with seconds) or 7 fields (with years), or a shortcut such as
    `@daily`."""
    rrule: NotRequired[str | None]
    """Recurrence rule as in RFC 5545."""
    timezone: NotRequired[str | None]
    """IANA time zone. Default: the org's time zone."""
    dst: NotRequired[Literal["vixie", "skip", "shift", "both"] | None]
    """What happens at times that a clock change skips or repeats. Default: `vixie`."""
    day_match: NotRequired[Literal["or", "and"] | None]
    """Whether a day must match one of the two day fields (`or`, default) or both (`and`)."""
    payload: NotRequired[Any]
    """Input of the agent: text or JSON."""
    session: NotRequired[str | None]
    """`isolated` (default), `main`, or a session key."""
    lane: NotRequired[str | None]
    """Lane whose slots the runs use. Default: the lane of scheduled work."""
    enabled: NotRequired[Any]
    """Whether the schedule fires. Default: true."""
    misfire_policy: NotRequired[Literal["FIRE_NOW", "SKIP", "CATCH_UP_LIMITED"] | None]
    """What happens after missed occurrences. Default: `CATCH_UP_LIMITED`."""
    catchup_limit: NotRequired[int | None]
    """How many missed occurrences are caught up, newest first. Default: 1."""
    overlap_action: NotRequired[Literal["ALLOW", "SKIP", "CANCEL_PREV", "PARALLEL", "BUFFER_ONE"] | None]
    """What happens while the previous run is pending. Default: `ALLOW`."""
    failure_action: NotRequired[Literal["RUN_NEW", "RETRY", "SKIP", "BACKOFF", "HALF_OPEN"] | None]
    """What happens after a failed run. Default: `RUN_NEW`."""
    concurrency_policy: NotRequired[Literal["QUEUE", "SKIP", "PARALLEL"] | None]
    """What happens when all slots of the schedule are taken. Default: `QUEUE`."""
    max_concurrency: NotRequired[int | None]
    """Slots of the schedule. Default: 1."""
    queue_depth: NotRequired[int | None]
    """How many runs may wait for a slot. Default: 10."""
    jitter_ms: NotRequired[int | None]
    """Maximum delay of a start. An occurrence always gets the same delay. Default: 0."""
    catchup_window_seconds: NotRequired[int | None]
    """Maximum age of a missed occurrence that is caught up. Default: 15 min."""
    max_parallel: NotRequired[int | None]
    """With `PARALLEL`: maximum number of concurrent runs. Default: no limit."""
    max_fires: NotRequired[int | None]
    """Number of runs after which the schedule ends. Default: no limit."""
    alert_after: NotRequired[int | None]
    """Consecutive failures that raise an alert. Default: the deployment's setting."""
    max_lateness_seconds: NotRequired[int | None]
    """Maximum lateness of a run before an alert is raised. Default: no limit."""
    failure_options: NotRequired[ScheduleInputFailureOptions | None]
    """Options for `failure_action`."""
    retry_policy: NotRequired[RetryPolicyInput | None]
    """Retries of failed attempts. Default: the policy of the agent."""
    timeout_seconds: NotRequired[int | None]
    """Maximum duration of an attempt. Default: the timeout of the agent."""
    starts_at: NotRequired[str | int | None]
    """No occurrence before this time."""
    ends_at: NotRequired[str | int | None]
    """No occurrence at or after this time."""
    exclude: NotRequired[list[str | ScheduleInputExcludeItem2] | None]
    """Dates such as `2026-12-25`, and windows `{from, to}`, without occurrences."""
    cadence: NotRequired[CadenceInput | None]
    """Bounds within which the interval adapts. Default: the interval stays fixed. Only with
    `every_seconds`."""
    delete_after_run: NotRequired[Any]
    """Delete a one-time schedule after its run."""
    delivery: NotRequired[ScheduleDelivery | None]
    """Target for results. Default: none."""
    budget: NotRequired[ScheduleBudgetInput | None]
    """Budget of the schedule. Default: no limit."""
    probe: NotRequired[Probe | None]
    """Check that runs before the agent does. Default: none."""
    kind: NotRequired[Literal["at", "once", "every", "interval", "cron", "rrule"] | None]
    """Kind of timing. Default: that of the timing field given."""
    schedule_type: NotRequired[Literal["at", "once", "every", "interval", "cron", "rrule"] | None]
    """Same as `kind`."""
    cron_expr: NotRequired[str | None]
    """Same as `cron`."""
    expr: NotRequired[str | None]
    """Same as `cron`."""
    interval_seconds: NotRequired[int | None]
    """Same as `every_seconds`."""
    everyMs: NotRequired[int | None]
    """Same as `every_seconds`, in milliseconds."""
    run_at: NotRequired[str | int | None]
    """Same as `at`."""
    atMs: NotRequired[int | None]
    """Same as `at`, as Unix time in milliseconds."""
    tz: NotRequired[str | None]
    """Same as `timezone`."""
    status: NotRequired[Literal["ENABLED", "DISABLED"] | None]
    """`ENABLED` or `DISABLED` (case-insensitive); same as `enabled` true or false."""


class ScheduleInputFailureOptions(TypedDict):
    ladder_seconds: NotRequired[list[int]]
    """With `BACKOFF`: the waits after the first, second and later failures."""
    threshold: NotRequired[int]
    """With `HALF_OPEN`: consecutive failures after which occurrences are skipped. Default: 3."""
    cooldown_seconds: NotRequired[int]
    """With `HALF_OPEN`: how long occurrences are skipped. Default: 5 min."""


ScheduleInputExcludeItem2 = TypedDict(
    "ScheduleInputExcludeItem2",
    {
        "from": "str",
        "to": "str",
    },
)


class ScheduleItem(TypedDict):
    """Without an id it is matched by name. `agent` is the name of an agent, or its id."""

    id: NotRequired[str]
    """Id. It cannot be changed. Default: matched by name; a budget by its subject, unit and
    period."""
    name: NotRequired[str | None]
    """Name of the schedule."""
    description: NotRequired[str | None]
    """Free-text description."""
    agent_id: NotRequired[str | None]
    """Agent that does the work. Default: the default agent of the org."""
    executor: NotRequired[InlineExecutor | None]
    """Executor to use instead of an agent. Runs without an agent are retried only with a
    `retry_policy`."""
    at: NotRequired[str | int | None]
    """Run once at this time: RFC 3339, or Unix time in milliseconds."""
    every_seconds: NotRequired[int | str | None]
    """Interval between occurrences, counted from `anchor`."""
    anchor: NotRequired[str | int | None]
    """Start of the interval or recurrence. Default: when the schedule was created."""
    cron: NotRequired[str | None]
    """Cron expression of 5, 6 (with seconds) or 7 fields (with years), or a shortcut such as
    `@daily`."""
    rrule: NotRequired[str | None]
    """Recurrence rule as in RFC 5545."""
    timezone: NotRequired[str | None]
    """IANA time zone. Default: the org's time zone."""
    dst: NotRequired[Literal["vixie", "skip", "shift", "both"] | None]
    """What happens at times that a clock change skips or repeats. Default: `vixie`."""
    day_match: NotRequired[Literal["or", "and"] | None]
    """Whether a day must match one of the two day fields (`or`, default) or both (`and`)."""
    payload: NotRequired[Any]
    """Input of the agent: text or JSON."""
    session: NotRequired[str | None]
    """`isolated` (default), `main`, or a session key."""
    lane: NotRequired[str | None]
    """Lane whose slots the runs use. Default: the lane of scheduled work."""
    enabled: NotRequired[Any]
    """Whether the schedule fires. Default: true."""
    misfire_policy: NotRequired[Literal["FIRE_NOW", "SKIP", "CATCH_UP_LIMITED"] | None]
    """What happens after missed occurrences. Default: `CATCH_UP_LIMITED`."""
    catchup_limit: NotRequired[int | None]
    """How many missed occurrences are caught up, newest first. Default: 1."""
    overlap_action: NotRequired[Literal["ALLOW", "SKIP", "CANCEL_PREV", "PARALLEL", "BUFFER_ONE"] | None]
    """What happens while the previous run is pending. Default: `ALLOW`."""
    failure_action: NotRequired[Literal["RUN_NEW", "RETRY", "SKIP", "BACKOFF", "HALF_OPEN"] | None]
    """What happens after a failed run. Default: `RUN_NEW`."""
    concurrency_policy: NotRequired[Literal["QUEUE", "SKIP", "PARALLEL"] | None]
    """What happens when all slots of the schedule are taken. Default: `QUEUE`."""
    max_concurrency: NotRequired[int | None]
    """Slots of the schedule. Default: 1."""
    queue_depth: NotRequired[int | None]
    """How many runs may wait for a slot. Default: 10."""
    jitter_ms: NotRequired[int | str | None]
    """Maximum delay of a start. An occurrence always gets the same delay. Default: 0."""
    catchup_window_seconds: NotRequired[int | str | None]
    """Maximum age of a missed occurrence that is caught up. Default: 15 min."""
    max_parallel: NotRequired[int | None]
    """With `PARALLEL`: maximum number of concurrent runs. Default: no limit."""
    max_fires: NotRequired[int | None]
    """Number of runs after which the schedule ends. Default: no limit."""
    alert_after: NotRequired[int | None]
    """Consecutive failures that raise an alert. Default: the deployment's setting."""
    max_lateness_seconds: NotRequired[int | str | None]
    """Maximum lateness of a run before an alert is raised. Default: no limit."""
    failure_options: NotRequired[ScheduleItemFailureOptions | None]
    """Options for `failure_action`."""
    retry_policy: NotRequired[ScheduleItemRetryPolicy | None]
    """Retries of failed attempts. Default: the policy of the agent."""
    timeout_seconds: NotRequired[int | str | None]
    """Maximum duration of an attempt. Default: the timeout of the agent."""
    starts_at: NotRequired[str | int | None]
    """No occurrence before this time."""
    ends_at: NotRequired[str | int | None]
    """No occurrence at or after this time."""
    exclude: NotRequired[list[str | ScheduleItemExcludeItem2] | None]
    """Dates such as `2026-12-25`, and windows `{from, to}`, without occurrences."""
    cadence: NotRequired[ScheduleItemCadence | None]
    """Bounds within which the interval adapts. Default: the interval stays fixed. Only with
    `every_seconds`."""
    delete_after_run: NotRequired[Any]
    """Delete a one-time schedule after its run."""
    delivery: NotRequired[DeliveryItem | None]
    """Target for results. Default: none."""
    budget: NotRequired[ScheduleBudgetInput | None]
    """Budget of the schedule. Default: no limit."""
    probe: NotRequired[ScheduleItemProbe | None]
    """Check that runs before the agent does. Default: none."""
    everyMs: NotRequired[int | None]
    """Same as `every_seconds`, in milliseconds."""
    agent: NotRequired[str | None]
    """Name or id of the agent. Default: the default agent of the org."""


class ScheduleItemFailureOptions(TypedDict):
    ladder_seconds: NotRequired[list[int | str]]
    """With `BACKOFF`: the waits after the first, second and later failures."""
    threshold: NotRequired[int]
    """With `HALF_OPEN`: consecutive failures after which occurrences are skipped. Default: 3."""
    cooldown_seconds: NotRequired[int | str]
    """With `HALF_OPEN`: how long occurrences are skipped. Default: 5 min."""


class ScheduleItemRetryPolicy(TypedDict):
    max_retries: NotRequired[int]
    """Maximum number of retries."""
    strategy: NotRequired[Literal["fixed", "exponential", "ladder"]]
    """How the waits grow."""
    base_ms: NotRequired[int | str]
    """First wait."""
    max_ms: NotRequired[int | str]
    """Longest wait. Not below `base_ms` if the waits grow."""
    jitter: NotRequired[float]
    """Random share of each wait, 0 to 1."""
    ladder_seconds: NotRequired[list[int | str]]
    """The waits before the first, second and later retries."""


ScheduleItemExcludeItem2 = TypedDict(
    "ScheduleItemExcludeItem2",
    {
        "from": "str",
        "to": "str",
    },
)


class ScheduleItemCadence(TypedDict):
    min_seconds: int | str
    max_seconds: int | str
    stretch: NotRequired[float]
    """Factor of one step. Default: 2. With 1, only proposals of agents change the interval."""
    quiet_after: NotRequired[int]
    """Quiet runs in a row before the first step. Default: 1."""


class ScheduleItemProbe(TypedDict):
    kind: Literal["http", "command", "state"]
    url: NotRequired[str | None]
    """`http`: the URL to request."""
    method: NotRequired[Literal["GET", "HEAD", "POST"] | None]
    headers: NotRequired[dict[str, str] | None]
    body: NotRequired[str | None]
    program: NotRequired[str | None]
    """`command`: the program to start, one of those the operator allows."""
    args: NotRequired[list[str] | None]
    directory: NotRequired[str | None]
    of: NotRequired[ScheduleItemProbeOf | None]
    """`state`: the schedule or session to read. Default: this schedule."""
    when: NotRequired[Any]
    """Condition on the answer: `{path, op, value}`, `{all}`, `{any}` or `{not}`."""
    changed: NotRequired[Any]
    """Wake the agent only if the answer, or the value at this JSON pointer, has changed."""
    on_error: NotRequired[Literal["run", "fail"] | None]
    """If the probe fails: `run` (default) wakes the agent, `fail` ends the attempt."""
    timeout_seconds: NotRequired[int | str | None]


class ScheduleItemProbeOf(TypedDict):
    schedule_id: NotRequired[str]
    session: NotRequired[str]


class ScheduleNote(TypedDict):
    """A note as a code with values."""

    code: Literal["never_fires", "ends_at_set"]
    params: dict[str, Any]


class ScheduleOutcome(TypedDict):
    """The state of one run of a schedule."""

    id: str
    status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"]
    created_at: str


class ScheduleOutcomes(TypedDict):
    """The last runs of schedules, newest first."""

    items: list[ScheduleOutcomesItemsItem]


class ScheduleOutcomesItemsItem(TypedDict):
    schedule_id: str
    runs: list[ScheduleOutcome]


class SchedulePage(TypedDict):
    items: list[Schedule]
    next_cursor: Any


class SchedulePatch(TypedDict):
    """A change of a schedule. Omitted fields keep their values; null restores the default."""

    name: NotRequired[str | None]
    """Name of the schedule."""
    description: NotRequired[str | None]
    """Free-text description."""
    agent_id: NotRequired[str | None]
    """Agent that does the work. Default: the default agent of the org."""
    executor: NotRequired[InlineExecutor | None]
    """Executor to use instead of an agent. Runs without an agent are retried only with a
    `retry_policy`."""
    at: NotRequired[str | int | None]
    """Run once at this time: RFC 3339, or Unix time in milliseconds."""
    every_seconds: NotRequired[int | None]
    """Interval between occurrences, counted from `anchor`."""
    anchor: NotRequired[str | int | None]
    """Start of the interval or recurrence. Default: when the schedule was created."""
    cron: NotRequired[str | None]
    """Cron expression of 5, 6 (with seconds) or 7 fields (with years), or a shortcut such as
    `@daily`."""
    rrule: NotRequired[str | None]
    """Recurrence rule as in RFC 5545."""
    timezone: NotRequired[str | None]
    """IANA time zone. Default: the org's time zone."""
    dst: NotRequired[Literal["vixie", "skip", "shift", "both"] | None]
    """What happens at times that a clock change skips or repeats. Default: `vixie`."""
    day_match: NotRequired[Literal["or", "and"] | None]
    """Whether a day must match one of the two day fields (`or`, default) or both (`and`)."""
    payload: NotRequired[Any]
    """Input of the agent: text or JSON."""
    session: NotRequired[str | None]
    """`isolated` (default), `main`, or a session key."""
    lane: NotRequired[str | None]
    """Lane whose slots the runs use. Default: the lane of scheduled work."""
    enabled: NotRequired[Any]
    """Whether the schedule fires. Default: true."""
    misfire_policy: NotRequired[Literal["FIRE_NOW", "SKIP", "CATCH_UP_LIMITED"] | None]
    """What happens after missed occurrences. Default: `CATCH_UP_LIMITED`."""
    catchup_limit: NotRequired[int | None]
    """How many missed occurrences are caught up, newest first. Default: 1."""
    overlap_action: NotRequired[Literal["ALLOW", "SKIP", "CANCEL_PREV", "PARALLEL", "BUFFER_ONE"] | None]
    """What happens while the previous run is pending. Default: `ALLOW`."""
    failure_action: NotRequired[Literal["RUN_NEW", "RETRY", "SKIP", "BACKOFF", "HALF_OPEN"] | None]
    """What happens after a failed run. Default: `RUN_NEW`."""
    concurrency_policy: NotRequired[Literal["QUEUE", "SKIP", "PARALLEL"] | None]
    """What happens when all slots of the schedule are taken. Default: `QUEUE`."""
    max_concurrency: NotRequired[int | None]
    """Slots of the schedule. Default: 1."""
    queue_depth: NotRequired[int | None]
    """How many runs may wait for a slot. Default: 10."""
    jitter_ms: NotRequired[int | None]
    """Maximum delay of a start. An occurrence always gets the same delay. Default: 0."""
    catchup_window_seconds: NotRequired[int | None]
    """Maximum age of a missed occurrence that is caught up. Default: 15 min."""
    max_parallel: NotRequired[int | None]
    """With `PARALLEL`: maximum number of concurrent runs. Default: no limit."""
    max_fires: NotRequired[int | None]
    """Number of runs after which the schedule ends. Default: no limit."""
    alert_after: NotRequired[int | None]
    """Consecutive failures that raise an alert. Default: the deployment's setting."""
    max_lateness_seconds: NotRequired[int | None]
    """Maximum lateness of a run before an alert is raised. Default: no limit."""
    failure_options: NotRequired[SchedulePatchFailureOptions | None]
    """Options for `failure_action`."""
    retry_policy: NotRequired[RetryPolicyInput | None]
    """Retries of failed attempts. Default: the policy of the agent."""
    timeout_seconds: NotRequired[int | None]
    """Maximum duration of an attempt. Default: the timeout of the agent."""
    starts_at: NotRequired[str | int | None]
    """No occurrence before this time."""
    ends_at: NotRequired[str | int | None]
    """No occurrence at or after this time."""
    exclude: NotRequired[list[str | SchedulePatchExcludeItem2] | None]
    """Dates such as `2026-12-25`, and windows `{from, to}`, without occurrences."""
    cadence: NotRequired[CadenceInput | None]
    """Bounds within which the interval adapts. Default: the interval stays fixed. Only with
    `every_seconds`."""
    delete_after_run: NotRequired[Any]
    """Delete a one-time schedule after its run."""
    delivery: NotRequired[ScheduleDelivery | None]
    """Target for results. Default: none."""
    budget: NotRequired[ScheduleBudgetInput | None]
    """Budget of the schedule. Default: no limit."""
    probe: NotRequired[Probe | None]
    """Check that runs before the agent does. Default: none."""
    kind: NotRequired[Literal["at", "once", "every", "interval", "cron", "rrule"] | None]
    """Kind of timing. Default: that of the timing field given."""
    schedule_type: NotRequired[Literal["at", "once", "every", "interval", "cron", "rrule"] | None]
    """Same as `kind`."""
    cron_expr: NotRequired[str | None]
    """Same as `cron`."""
    expr: NotRequired[str | None]
    """Same as `cron`."""
    interval_seconds: NotRequired[int | None]
    """Same as `every_seconds`."""
    everyMs: NotRequired[int | None]
    """Same as `every_seconds`, in milliseconds."""
    run_at: NotRequired[str | int | None]
    """Same as `at`."""
    atMs: NotRequired[int | None]
    """Same as `at`, as Unix time in milliseconds."""
    tz: NotRequired[str | None]
    """Same as `timezone`."""
    status: NotRequired[Literal["ENABLED", "DISABLED"] | None]
    """`ENABLED` or `DISABLED` (case-insensitive); same as `enabled` true or false."""


class SchedulePatchFailureOptions(TypedDict):
    ladder_seconds: NotRequired[list[int]]
    """With `BACKOFF`: the waits after the first, second and later failures."""
    threshold: NotRequired[int]
    """With `HALF_OPEN`: consecutive failures after which occurrences are skipped. Default: 3."""
    cooldown_seconds: NotRequired[int]
    """With `HALF_OPEN`: how long occurrences are skipped. Default: 5 min."""


SchedulePatchExcludeItem2 = TypedDict(
    "SchedulePatchExcludeItem2",
    {
        "from": "str",
        "to": "str",
    },
)


class ScheduleProposal(TypedDict):
    """A schedule proposed from a run, what it is based on, and the choices."""

    run_id: str
    prompt_run_id: str
    """The run whose message is the prompt; an earlier run if this one only changed its answer."""
    draft: ScheduleDraft
    """What `POST` returns when nothing is chosen."""
    timing: ScheduleProposalTiming | None
    """Null: the conversation names no time."""
    requirements: list[ScheduleProposalRequirementsItem]
    conversation: ScheduleProposalConversation | None
    """Null: the run has no conversation, or one the caller may not read."""
    target: ScheduleProposalTarget | None
    """The target that delivers to the conversation. Null: none."""
    observed: ScheduleProposalObserved


class ScheduleProposalTiming(TypedDict):
    words: str
    """The words that state it."""
    run_id: str
    """The run whose message contains them."""
    sentence: str
    next: list[str]
    dst_notes: list[ScheduleProposalTimingDstNotesItem]
    notes: list[str]
    """Assumptions made where the words leave something open."""


class ScheduleProposalTimingDstNotesItem(TypedDict):
    at: str
    zone: str
    kind: Literal["gap", "repeat"]
    offset_before: str
    offset_after: str
    effect: Literal["none", "skipped", "fires_after_gap", "shifted", "first_pass_only", "both_passes"]
    sentence: str


class ScheduleProposalRequirementsItem(TypedDict):
    id: str
    kind: Literal["format", "length", "language", "tone", "content"]
    text: str
    said: Any
    """The message that states it. Null: it was inferred from an answer."""
    run_id: str
    """The run whose message or answer it comes from."""
    taken: bool
    """Whether it applies by default."""


class ScheduleProposalConversation(TypedDict):
    key: str
    earlier: int
    """Earlier messages of the same person, which a run with its own session does not see."""
    channel: Any
    """The channel of the conversation. Null: none."""


class ScheduleProposalTarget(TypedDict):
    id: str
    name: str


class ScheduleProposalObserved(TypedDict):
    duration_ms: int | None
    usage: Usage | None


class Secret(TypedDict):
    """A secret without its value."""

    name: str
    org_id: str
    hosts: list[str]
    used_by: list[str]
    """Agents that use the secret."""
    key_id: str
    """Fingerprint of the key that encrypts it."""
    version: int
    created_by: Any
    created_at: str
    updated_at: str
    value_set_at: str


class SecretInput(TypedDict):
    """A new secret: a value that agents may send to the given hosts."""

    name: str
    value: str
    """Write-only: never shown."""
    hosts: list[str]
    """Hosts to which the secret may be sent: `api.example.com`, or `host:port` for other ports
    than the default."""


class SecretPage(TypedDict):
    items: list[Secret]
    next_cursor: Any


class SecretPatch(TypedDict):
    """A change of a secret."""

    value: NotRequired[str]
    hosts: NotRequired[list[str]]


class SecretRotation(TypedDict):
    """Result of the rotation."""

    key_id: str
    """The key that encrypts from now on."""
    previous_key_id: Any
    """The previous key. Null: unchanged."""
    sealed_anew: int
    failed: list[SecretRotationFailedItem]
    """Values that could not be decrypted and stay as they are."""


class SecretRotationFailedItem(TypedDict):
    org_id: str
    kind: Literal["secret", "signing_secret", "target.url", "channel.credentials"]
    name: str
    message: str


class SecretRotationInput(TypedDict):
    """How to encrypt all secrets again."""

    new_key: NotRequired[bool]
    """Create a new key first. Only where the key is in a file beside an embedded database."""


class SeriesPoint(TypedDict):
    """One interval of a series."""

    at: str
    """Start of the interval."""
    by_status: dict[str, int]
    duration_p95_ms: Any
    """95th percentile of run durations. Null: no run ended."""
    lateness_p99_ms: Any
    """99th percentile of start lateness against the nominal time. Null: no run had one."""
    tokens: float
    cost: float
    """In whole units of money."""


class Session(TypedDict):
    key: str
    org_id: str
    mode: Literal["queue", "followup", "interrupt"]
    cap: int
    drop: Literal["old", "new"]
    debounce_ms: int
    max_concurrent: int
    generation: int
    tokens: Any
    context_window: Any
    active: int
    waiting: int
    created_at: str


class SessionChange(TypedDict):
    """Omitted fields stay unchanged; null restores the setting of the deployment."""

    mode: NotRequired[Literal["queue", "followup", "interrupt"] | None]
    """How messages are queued."""
    cap: NotRequired[int | None]
    """Maximum number of queued messages."""
    drop: NotRequired[Literal["old", "new"] | None]
    """Which message is dropped when the queue is full."""
    debounce_ms: NotRequired[int | None]
    """Messages this close together become one run."""
    max_concurrent: NotRequired[int | None]
    """Maximum number of concurrent runs."""


class SessionMessageInput(TypedDict):
    """A message, and the session it goes to."""

    session: str
    """Key of the session. `agent:<agent>:…` names the agent."""
    text: str
    sender: NotRequired[str]
    """Sender of the message. Messages of one sender within the debounce time become one run."""
    attachments: NotRequired[list[Any]]
    message_id: NotRequired[str]
    """Message id set by the sender. A message with the same id within 24 hours is a repetition."""
    sent_at: NotRequired[str | int]
    lane: NotRequired[str]
    """Lane of the run."""
    mode: NotRequired[Literal["queue", "followup", "interrupt"]]
    """Queue mode, for this message only."""
    max_concurrent: NotRequired[int]
    debounce_ms: NotRequired[int]
    not_before: NotRequired[str | int]
    """Earliest time to start."""
    deadline: NotRequired[str | int]
    """Latest time to start."""
    parent_run_id: NotRequired[str]
    max_tokens: NotRequired[int]
    """Maximum tokens of the run; budgets reserve this amount."""


class SessionPage(TypedDict):
    items: list[Session]
    next_cursor: Any


class SignInInput(TypedDict):
    """The token of a sign-in link, or a key. Exactly one of them."""

    token: NotRequired[str]
    key: NotRequired[str]


class SignInLink(TypedDict):
    """A link that signs a member in once. The token goes into the fragment of the console's
    URL: `#signin=<token>`."""

    token: str
    member_id: str
    expires_at: str


class SigningSecret(TypedDict):
    """The secret that signs the org's webhooks."""

    org_id: str
    secret: str
    created_at: str
    previous_until: str | None
    """Until when the previous secret also signs. Null: there is none."""


SimulateAnswer = TypedDict(
    "SimulateAnswer",
    {
        "from": "str",
        "to": "str",
        "seed": "int",
        "schedules": "list[SimulatedSchedule]",
        "rows": "list[SimulatedRun]",
        "ranges": "list[SimulateAnswerRangesItem]",
        "truncated": "bool",
        "bucket_seconds": "int",
        "depth": "list[SimulateAnswerDepthItem]",
        "totals": "SimulationTotals",
        "outages": "list[SimulationOutage]",
        "basis": "list[SimulationBasis]",
        "against": "Simulation | None",
        "diff": "SimulationDiff | None",
    },
)


class SimulateAnswerRangesItem(TypedDict):
    reason: Reason
    rule: str
    """The rule as the docs write it: `overlap_action=SKIP`, `session.cap`, `gate:agent_limit`."""
    sentence: str
    schedule_id: str
    first: str
    last: str
    count: int
    decided_at: str


class SimulateAnswerDepthItem(TypedDict):
    at: str
    waiting: int
    """Most runs waiting in the interval that starts here; `running` is the most running."""
    running: int
    tokens: float
    cost: float


SimulateInput = TypedDict(
    "SimulateInput",
    {
        "schedules": "NotRequired[list[ScheduleInput]]",
        "ids": "NotRequired[list[str]]",
        "all": "NotRequired[bool]",
        "agent_id": "NotRequired[str]",
        "from": "NotRequired[str | int]",
        "to": "NotRequired[str | int]",
        "window_seconds": "NotRequired[int]",
        "assume": "NotRequired[SimulationAssumption]",
        "assume_for": "NotRequired[list[SimulationAssumptionFor]]",
        "observed": "NotRequired[bool]",
        "outages": "NotRequired[list[SimulationOutageAsked]]",
        "changes": "NotRequired[list[SimulationPolicyChange]]",
        "against": "NotRequired[list[SimulationPolicyChange]]",
        "interventions": "NotRequired[list[SimulationIntervention]]",
        "budgets": "NotRequired[bool]",
        "replay": "NotRequired[bool]",
        "seed": "NotRequired[int]",
        "max_rows": "NotRequired[int]",
    },
)


class SimulatedRun(TypedDict):
    """The outcome of one occurrence or manual run."""

    reason: Reason
    rule: str
    """The rule as the docs write it: `overlap_action=SKIP`, `session.cap`, `gate:agent_limit`."""
    sentence: str
    id: str
    schedule_id: str
    nominal_time: str | None
    """Null: a manual run."""
    trigger: Literal["message", "task", "schedule", "catchup", "heartbeat", "manual", "retry", "webhook"]
    status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"]
    """State at the end of the window."""
    decision: SimulatedRunDecision
    """Why it was created or skipped."""
    held_decision: SimulatedRunHeldDecision | None
    """Why it was held before that was decided; null for runs that never were."""
    first_attempt: int
    attempt: int
    created_at: str
    not_before: str | None
    started_at: str | None
    """Start of its last attempt."""
    finished_at: str | None
    lateness_ms: Any
    """From the nominal time to the first start. Null: not started, or not planned."""
    error_code: Literal["executor_http_3xx", "executor_http_4xx", "executor_http_5xx", "network", "timeout", "callback_timeout", "node_lost", "node_shutdown", "executor_offline", "tab_unresolved", "tab_missing", "malformed_answer", "answer_too_large", "condition_failed", "agent_error", "command_failed", "outbound_refused", "secret_refused", "probe_failed", "budget", "internal"] | None
    tokens: float
    cost: float
    superseded: bool
    superseded_by: Any
    """The occurrence that replaced it."""
    attempts: list[SimulatedRunAttemptsItem]


class SimulatedRunDecision(TypedDict):
    """Why it was created or skipped."""

    reason: Reason
    rule: str
    """The rule as the docs write it: `overlap_action=SKIP`, `session.cap`, `gate:agent_limit`."""
    sentence: str


class SimulatedRunHeldDecision(TypedDict):
    reason: Reason
    rule: str
    """The rule as the docs write it: `overlap_action=SKIP`, `session.cap`, `gate:agent_limit`."""
    sentence: str


class SimulatedRunAttemptsItem(TypedDict):
    number: int
    started_at: str
    finished_at: str | None
    """Null: still running at the end of the window."""
    status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"]
    error_code: Literal["executor_http_3xx", "executor_http_4xx", "executor_http_5xx", "network", "timeout", "callback_timeout", "node_lost", "node_shutdown", "executor_offline", "tab_unresolved", "tab_missing", "malformed_answer", "answer_too_large", "condition_failed", "agent_error", "command_failed", "outbound_refused", "secret_refused", "probe_failed", "budget", "internal"] | None


class SimulatedSchedule(TypedDict):
    """A simulated schedule and its state at the end."""

    id: str
    name: str
    sentence: str
    kind: Literal["at", "every", "cron", "rrule"]
    timezone: str
    agent_id: str
    state: Literal["active", "paused", "finished", "failed", "pending_approval"] | None
    """Null: it deleted itself."""
    next_run_at: str | None
    fires: int
    failure_streak: int
    totals: SimulationTotals
    buckets: list[SimulatedScheduleBucketsItem]
    """All its runs by nominal time, also those that `rows` omits. Without empty ones."""
    dst_notes: list[SimulatedScheduleDstNotesItem]


class SimulatedScheduleBucketsItem(TypedDict):
    at: str
    by_status: dict[str, int]


class SimulatedScheduleDstNotesItem(TypedDict):
    at: str
    zone: str
    kind: Literal["gap", "repeat"]
    offset_before: str
    offset_after: str
    effect: Literal["none", "skipped", "fires_after_gap", "shifted", "first_pass_only", "both_passes"]
    sentence: str


Simulation = TypedDict(
    "Simulation",
    {
        "from": "str",
        "to": "str",
        "seed": "int",
        "schedules": "list[SimulatedSchedule]",
        "rows": "list[SimulatedRun]",
        "ranges": "list[SimulationRangesItem]",
        "truncated": "bool",
        "bucket_seconds": "int",
        "depth": "list[SimulationDepthItem]",
        "totals": "SimulationTotals",
        "outages": "list[SimulationOutage]",
    },
)


class SimulationRangesItem(TypedDict):
    reason: Reason
    rule: str
    """The rule as the docs write it: `overlap_action=SKIP`, `session.cap`, `gate:agent_limit`."""
    sentence: str
    schedule_id: str
    first: str
    last: str
    count: int
    decided_at: str


class SimulationDepthItem(TypedDict):
    at: str
    waiting: int
    """Most runs waiting in the interval that starts here; `running` is the most running."""
    running: int
    tokens: float
    cost: float


class SimulationAssumption(TypedDict):
    """Assumptions about simulated attempts."""

    duration_ms: NotRequired[int | SimulationAssumptionDurationMs2 | list[int]]
    """Duration of an attempt in milliseconds. Default: 1,000. A list is a list of observations."""
    failure_rate: NotRequired[float]
    """Share of attempts that fail, 0 to 1. Default: 0."""
    timeout_rate: NotRequired[float]
    """Share of attempts that time out, 0 to 1. Default: 0."""
    outcomes: NotRequired[list[Literal["success", "failed", "timeout"]]]
    """Outcomes of the attempts of each schedule, in order, repeated from the start."""
    error_code: NotRequired[Literal["executor_http_3xx", "executor_http_4xx", "executor_http_5xx", "network", "timeout", "callback_timeout", "node_lost", "node_shutdown", "executor_offline", "tab_unresolved", "tab_missing", "malformed_answer", "answer_too_large", "condition_failed", "agent_error", "command_failed", "outbound_refused", "secret_refused", "probe_failed", "budget", "internal"]]
    """Error code of failures. Default: `agent_error`."""
    stops_in_ms: NotRequired[int | None]
    """How long an attempt continues after it was told to stop. Default: 0. Null: it ignores it."""
    tokens: NotRequired[int]
    """Tokens per attempt."""
    cost: NotRequired[float]
    """Cost per attempt, in whole units of money."""
    quiet_rate: NotRequired[float]
    """Share of runs that find nothing new, 0 to 1. Default: 0, so that a cadence is not
    simulated as slower than it may be."""
    next_check_seconds: NotRequired[int]
    """Seconds until the next check that every agent asks for. Default: none asks."""


class SimulationAssumptionDurationMs2(TypedDict):
    min: int
    max: int


class SimulationAssumptionFor(TypedDict):
    """Assumptions about some schedules. They override those about all."""

    schedules: list[str]
    """Ids or names."""
    assume: SimulationAssumption


class SimulationBasis(TypedDict):
    """The data that the simulation of a schedule is based on."""

    schedule_id: str
    source: Literal["given", "stored"]
    """`given`: in the request. `stored`: in the database."""
    observed_runs: int
    """Recorded runs used for durations and outcomes. 0: assumptions only."""
    recorded_attempts: int
    """Recorded attempts of the window that are replayed."""


class SimulationDiff(TypedDict):
    """The differences between two sets of policies over the same window."""

    changes: list[SimulationDiffChangesItem]
    changed: int
    unchanged: int
    truncated: bool
    """Not every occurrence could be compared, because at least one side lists only its first
    rows."""
    before: SimulationTotals
    after: SimulationTotals


class SimulationDiffChangesItem(TypedDict):
    schedule_id: str
    nominal_time: str
    kind: Literal["status", "timing", "only_before", "only_after"]
    """`status`: it ends differently. `timing`: it ends the same, at other times or with other
    attempts."""
    before: SimulatedRun | None
    after: SimulatedRun | None


class SimulationIntervention(TypedDict):
    at: str | int
    schedule_id: str
    action: Literal["run_now", "disable", "enable"]


SimulationOutage = TypedDict(
    "SimulationOutage",
    {
        "kind": "Literal['engine', 'stall', 'agent']",
        "from": "str",
        "to": "str",
        "agent_id": "NotRequired[str]",
        "effect": "NotRequired[Literal['network', 'executor_http_5xx', 'offline']]",
    },
)


SimulationOutageAsked = TypedDict(
    "SimulationOutageAsked",
    {
        "kind": "Literal['engine', 'stall', 'agent']",
        "from": "str | int",
        "to": "NotRequired[str | int]",
        "seconds": "NotRequired[int]",
        "agent_id": "NotRequired[str]",
        "effect": "NotRequired[Literal['network', 'executor_http_5xx', 'offline']]",
    },
)


class SimulationPolicyChange(TypedDict):
    """Changed policies of some or all schedules."""

    schedules: NotRequired[list[str]]
    """Ids or names. Default: all schedules."""
    set: SchedulePatch


class SimulationTotals(TypedDict):
    """Totals of the window. Ranges count every occurrence in them."""

    occurrences: int
    """Occurrences decided."""
    runs: int
    """Runs created, manual ones included."""
    by_status: dict[str, int]
    skipped_by_reason: dict[str, int]
    attempts: int
    superseded: int
    max_waiting: int
    """Most runs waiting at a time; `max_running` is the most running at a time."""
    max_running: int
    busy_ms: float
    """Total duration of all attempts."""
    tokens: float
    cost: float
    lateness_p50_ms: Any
    lateness_p99_ms: Any
    lateness_max_ms: Any


class Spread(TypedDict):
    """Percentiles in milliseconds."""

    p50: float
    p95: float
    p99: float
    max: float


Stats = TypedDict(
    "Stats",
    {
        "org_id": "str",
        "from": "str",
        "to": "str",
        "runs": "StatsRuns",
        "pending": "StatsPending",
        "schedules": "dict[str, int]",
        "agents": "list[AgentWork]",
        "providers": "list[ProviderWork]",
        "probes": "StatsProbes",
        "lanes": "list[Lane]",
    },
)


class StatsRuns(TypedDict):
    ended: int
    """Runs that were executed or cancelled; the shares refer to these."""
    by_status: dict[str, int]
    share: StatsRunsShare | None
    """Null: no run has ended."""
    duration_ms: Spread | None
    """From start to end. Null: no run has ended."""
    lateness_ms: Spread | None
    """From the nominal time to the start, of runs that have one."""


class StatsRunsShare(TypedDict):
    success: float
    failed: float
    timeout: float


class StatsPending(TypedDict):
    waiting: int
    queued: int
    active: int


class StatsProbes(TypedDict):
    """Probes run before agents were started; `saved` is how often the agent was not started."""

    asked: int
    saved: int
    errors: int


StatsSeries = TypedDict(
    "StatsSeries",
    {
        "org_id": "str",
        "from": "str",
        "to": "str",
        "step": "Literal['hour', 'day']",
        "points": "list[SeriesPoint]",
    },
)


class StopAnswer(TypedDict):
    """The answer to /stop, /stopall and reset."""

    stopped: int
    drained: int


class Target(TypedDict):
    """A target and its state."""

    id: str
    org_id: str
    name: str
    kind: Literal["webhook", "email", "slack", "telegram", "session"]
    url: Any
    """Null for kinds without one; truncated if the URL is a secret."""
    settings: dict[str, Any]
    quiet_hours: QuietHours | None
    alerts: bool
    enabled: bool
    disabled_at: str | None
    disabled_why: Why | None
    """Why the target was disabled. Null: by a user."""
    failures_in_a_row: int
    held: int
    """Messages held until it is enabled, or until its quiet hours end."""
    last_delivered_at: str | None
    last_failed_at: str | None
    created_by: Any
    created_at: str
    updated_at: str


class TargetInput(TypedDict):
    """A new target for results."""

    name: str
    """Name of the target."""
    kind: NotRequired[Literal["webhook", "email", "slack", "telegram", "session"]]
    """How the target is reached. Default: `webhook`. It cannot be changed."""
    url: NotRequired[str]
    """URL that messages are sent to, for kinds that have one."""
    settings: NotRequired[dict[str, Any]]
    """Kind-specific settings; for `email`: `{to, subject_prefix?}`. A change replaces all of
    them."""
    quiet_hours: NotRequired[QuietHours | None]
    """Messages during quiet hours are collected and sent as one digest at their end. Null or
    omitted: none."""
    alerts: NotRequired[bool]
    """Whether the target receives the org's alerts. Default: false."""
    enabled: NotRequired[bool]
    """Default: true. Messages to a disabled target are held."""


class TargetItem(TypedDict):
    """Without an id it is matched by name. A hidden URL is left out and keeps its value."""

    id: NotRequired[str]
    """Id. It cannot be changed. Default: matched by name; a budget by its subject, unit and
    period."""
    name: str
    """Name of the target."""
    kind: NotRequired[Literal["webhook", "email", "slack", "telegram", "session"]]
    """How the target is reached. Default: `webhook`. It cannot be changed."""
    url: NotRequired[str]
    """URL that messages are sent to, for kinds that have one."""
    settings: NotRequired[dict[str, Any]]
    """Kind-specific settings; for `email`: `{to, subject_prefix?}`. A change replaces all of
    them."""
    quiet_hours: NotRequired[QuietHours | None]
    """Messages during quiet hours are collected and sent as one digest at their end. Null or
    omitted: none."""
    alerts: NotRequired[bool]
    """Whether the target receives the org's alerts. Default: false."""
    enabled: NotRequired[bool]
    """Default: true. Messages to a disabled target are held."""


class TargetPage(TypedDict):
    items: list[Target]
    next_cursor: Any


class TargetPatch(TypedDict):
    """A change of a target."""

    name: NotRequired[str]
    """Name of the target."""
    url: NotRequired[str]
    """URL that messages are sent to, for kinds that have one."""
    settings: NotRequired[dict[str, Any]]
    """Kind-specific settings; for `email`: `{to, subject_prefix?}`. A change replaces all of
    them."""
    quiet_hours: NotRequired[QuietHours | None]
    """Messages during quiet hours are collected and sent as one digest at their end. Null or
    omitted: none."""
    alerts: NotRequired[bool]
    """Whether the target receives the org's alerts. Default: false."""
    enabled: NotRequired[bool]
    """Default: true. Messages to a disabled target are held."""


class TargetTest(TypedDict):
    """Result of a test message."""

    delivered: bool
    message_id: str
    status_code: int | None
    duration_ms: int
    error_code: Literal["http", "refused", "network", "timeout", "malformed", "smtp", "not_configured", "target_gone", "run_gone"] | None
    message: Any


class Task(TypedDict):
    """A task."""

    taskId: str
    agentId: str
    action: str
    tabId: NotRequired[str]
    selector: NotRequired[str]
    ref: NotRequired[str]
    params: NotRequired[dict[str, Any]]
    callbackUrl: NotRequired[str]
    priority: int
    state: Literal["queued", "assigned", "running", "done", "failed", "cancelled", "rejected"]
    deadline: str | None
    createdAt: str
    startedAt: str | None
    completedAt: str | None
    latencyMs: NotRequired[int]
    result: NotRequired[Any]
    error: NotRequired[str]
    position: NotRequired[int]


class TaskBatchInput(TypedDict):
    """Tasks of one agent."""

    agentId: str
    """Agent of all tasks."""
    callbackUrl: NotRequired[str | None]
    """URL that receives the results of tasks that set no URL."""
    tasks: list[TaskItemInput]


class TaskBatchItem(TypedDict):
    """The outcome of one task of a batch. A task that could not be read is `rejected`, has an
    empty id and is not stored."""

    taskId: str
    """Empty if the task could not be read and nothing was stored."""
    state: Literal["queued", "assigned", "running", "done", "failed", "cancelled", "rejected"]
    position: NotRequired[int]
    error: NotRequired[str]


class TaskBatchReceipt(TypedDict):
    """The outcome of each task of a batch, in order."""

    tasks: list[TaskBatchItem]
    submitted: int
    """Number of tasks in the request."""


class TaskCancelled(TypedDict):
    """A cancelled task."""

    status: Literal["cancelled"]
    taskId: str


class TaskError(TypedDict):
    """An error of the task API. `details.errors` lists the invalid fields."""

    error: str
    code: str
    """Stable error code."""
    retryable: NotRequired[Literal[True]]
    """True if the same request may succeed later."""
    details: NotRequired[dict[str, Any]]


class TaskInput(TypedDict):
    """Unknown fields are ignored. Null and blank texts count as omitted."""

    agentId: str
    """Agent of the task: any text. If it is the id of an agent, that agent runs the task."""
    action: str
    """What to do: `click`, `type`, …"""
    tabId: NotRequired[str | None]
    """Browser tab."""
    selector: NotRequired[str | None]
    """Selector of the element."""
    ref: NotRequired[str | None]
    """Reference of the element."""
    params: NotRequired[dict[str, Any] | str | None]
    """Parameters of the action."""
    priority: NotRequired[int | str | None]
    """Lower values run sooner. Default: 0."""
    deadline: NotRequired[str | None]
    """Latest time to start. Default: 60 s from now."""
    callbackUrl: NotRequired[str | None]
    """URL that receives the result."""
    retry_policy: NotRequired[RetryPolicyInput | str | None]
    """Retries of failed attempts, in Escapement only. Default: none."""


class TaskItemInput(TypedDict):
    """A task of a batch: the fields of a task without the agent."""

    action: str
    """What to do: `click`, `type`, …"""
    tabId: NotRequired[str | None]
    """Browser tab."""
    selector: NotRequired[str | None]
    """Selector of the element."""
    ref: NotRequired[str | None]
    """Reference of the element."""
    params: NotRequired[dict[str, Any] | str | None]
    """Parameters of the action."""
    priority: NotRequired[int | str | None]
    """Lower values run sooner. Default: 0."""
    deadline: NotRequired[str | None]
    """Latest time to start. Default: 60 s from now."""
    callbackUrl: NotRequired[str | None]
    """URL that receives the result."""
    retry_policy: NotRequired[RetryPolicyInput | str | None]
    """Retries of failed attempts, in Escapement only. Default: none."""


class TaskList(TypedDict):
    """Tasks, newest first."""

    tasks: list[Task]
    count: int
    """Number of tasks in this answer."""
    next_cursor: NotRequired[str]
    """Cursor of the next page. Omitted on the last page."""


class TaskReceipt(TypedDict):
    """The receipt of a submitted task."""

    taskId: str
    state: Literal["queued", "assigned", "running", "done", "failed", "cancelled", "rejected"]
    position: int | None
    """Position among the queued tasks of the agent; 0: it has started; null: too many are
    before it."""
    createdAt: str
    task: NotRequired[Task]
    """The task, if it ended while the request waited."""


class TaskStats(TypedDict):
    """Counts over the lifetime of the org and all nodes. `tasksSubmitted` is the number of
    tasks that completed, failed, were cancelled, expired, or are pending."""

    queue: TaskStatsQueue
    metrics: TaskStatsMetrics
    config: TaskStatsConfig


class TaskStatsQueue(TypedDict):
    totalQueued: int
    totalInflight: int
    agents: dict[str, TaskStatsQueueAgents]


class TaskStatsQueueAgents(TypedDict):
    queued: int
    inflight: int


class TaskStatsMetrics(TypedDict):
    tasksSubmitted: int
    tasksCompleted: int
    tasksFailed: int
    tasksCancelled: int
    tasksRejected: int
    tasksExpired: int
    dispatchCount: int
    """Tasks started."""
    dispatchLatencyTotalMs: int
    """Total time they were queued."""
    avgDispatchLatencyMs: float
    agents: dict[str, TaskStatsMetricsAgents]


class TaskStatsMetricsAgents(TypedDict):
    submitted: int
    """Accepted tasks. Rejected ones are not included."""
    completed: int
    failed: int
    cancelled: int
    rejected: int
    expired: int


class TaskStatsConfig(TypedDict):
    strategy: Literal["fair-fifo"]
    maxQueueSize: int
    maxPerAgent: int
    maxInflight: int
    maxPerAgentFlight: int
    workerCount: int
    """Slots of the lane `task` on this node."""
    resultTTL: str
    """A Go duration: `5m0s`."""


class TasksInput(TypedDict):
    """Tasks of any agents."""

    tasks: list[TaskInput]


Timeline = TypedDict(
    "Timeline",
    {
        "org_id": "str",
        "from": "str",
        "to": "str",
        "step_seconds": "int",
        "total": "int",
        "items": "list[TimelineRow]",
        "next_cursor": "Any",
    },
)


class TimelineRow(TypedDict):
    """A row of the timeline."""

    kind: Literal["schedule", "agent", "direct", "org"]
    """`direct`: runs of an agent without a schedule."""
    id: Any
    """Of the schedule or agent."""
    name: Any
    """Null: it no longer exists."""
    state: Literal["active", "paused", "finished", "failed", "pending_approval"] | None
    """Of the schedule."""
    by_status: dict[str, int]
    buckets: list[TimelineRowBucketsItem]
    """Without empty ones."""
    held: TimelineRowHeld | None
    """Why no occurrence can run before `until` (null: until someone acts): back-off or an
    exhausted budget."""


class TimelineRowBucketsItem(TypedDict):
    at: str
    """Start of the bucket."""
    by_status: dict[str, int]
    """Runs created in the bucket, by their current status."""
    planned: int
    """Occurrences still to come, without those that `held` stops."""


class TimelineRowHeld(TypedDict):
    until: str | None
    reason: Reason
    rule: str
    """The rule as the docs write it: `overlap_action=SKIP`, `session.cap`, `gate:agent_limit`."""
    evidence: dict[str, Any]
    sentence: str


class Usage(TypedDict):
    """Tokens and cost of a run, as its executor reported them."""

    input_tokens: NotRequired[float]
    output_tokens: NotRequired[float]
    cached_input_tokens: NotRequired[float]
    """The part of `input_tokens` read from a cache."""
    reasoning_tokens: NotRequired[float]
    """The part of `output_tokens` used for reasoning."""
    context_window: NotRequired[float]
    cost: NotRequired[float]
    prices_as_of: NotRequired[str]
    """The date of the list prices that the cost was computed with; missing: no list prices were
    used."""


class Version(TypedDict):
    name: Literal["escapement"]
    version: str


class Why(TypedDict):
    """Why something was decided: the reason code, the rule that decided, and its evidence."""

    reason: Reason
    rule: str
    """The rule as the docs write it: `overlap_action=SKIP`, `session.cap`, `gate:agent_limit`."""
    evidence: dict[str, Any]


class Words(TypedDict):
    """What a text means: fields of a schedule, a sentence and the next occurrences."""

    fields: ScheduleInput
    sentence: str
    next: list[str]
    dst_notes: list[WordsDstNotesItem]
    notes: list[str]
    """Assumptions made where the text leaves something open."""
    rest: Any
    """The text after a colon: the prompt. Null: none."""


class WordsDstNotesItem(TypedDict):
    at: str
    zone: str
    kind: Literal["gap", "repeat"]
    offset_before: str
    offset_after: str
    effect: Literal["none", "skipped", "fires_after_gap", "shifted", "first_pass_only", "both_passes"]
    sentence: str


class WordsInput(TypedDict):
    """A time in natural language."""

    text: str
    timezone: NotRequired[str | None]
    """Default time zone for text that names none. Default: the org's time zone."""


class Worker(TypedDict):
    """A worker."""

    id: str
    name: str
    agents: list[str]
    capacity: int
    held: int
    """Attempts it holds."""
    connected_at: str
    lease_until: str
    alive: bool
    draining: bool


class WorkerAnswer(TypedDict):
    """The answer to a report about an attempt."""

    status: Literal["waiting", "queued", "assigned", "running", "awaiting_callback", "stopping", "success", "failed", "timeout", "cancelled", "skipped", "dropped", "rejected", "expired"]
    """State of its run."""
    ignored: bool
    """Nothing changed: the attempt is no longer the current one, or has ended."""
    cancel: bool
    """The worker should stop this attempt."""
    reason: Reason | None
    """Why it should stop."""
    ends_by: str | None
    """Deadline of the attempt. Null before it starts and after it has ended."""


class WorkerAttempt(TypedDict):
    """An attempt handed to a worker."""

    agent_id: str
    trigger_type: Literal["message", "task", "schedule", "catchup", "heartbeat", "manual", "retry", "webhook", "scheduled"]
    manual: bool
    """Whether this run of a schedule is manual: run-now, a backfill or a retry."""
    schedule_id: Any
    job_run_id: str
    run_id: str
    attempt: int
    attempt_id: str
    nominal_time: str | None
    session_id: Any
    message: Any
    schedule_payload: Any
    payload: Any
    deadline: str | None
    traceparent: Any
    escapement: NotRequired[Invitation]
    """Only for agents with `self_service`: the API and the key of this attempt."""


class WorkerCancel(TypedDict):
    """An attempt that a worker should stop."""

    attempt_id: str
    reason: Reason


class WorkerPage(TypedDict):
    items: list[Worker]
    next_cursor: Any


AuditAction = Literal["agent.create", "agent.update", "agent.delete", "agent.test", "alert.acknowledge", "alert.snooze", "alert.retry", "budget.create", "budget.update", "budget.delete", "budget.resume", "channel.create", "channel.update", "channel.delete", "channel.enable", "channel.disable", "channel.test", "config.update", "config.reload", "delivery.retry", "heartbeat.update", "heartbeat.test", "key.create", "key.revoke", "key.revive", "key.sign_in", "lane.create", "lane.update", "member.create", "member.update", "member.delete", "member.sign_in", "member.sign_in_link", "org.create", "org.update", "org.delete", "provider.create", "provider.update", "provider.delete", "run.cancel", "run.retry", "schedule.create", "schedule.update", "schedule.delete", "schedule.enable", "schedule.disable", "schedule.run_now", "schedule.probe", "schedule.backfill", "schedule.backfill_cancel", "schedule.approve", "schedule.reject", "sealing_key.rotate", "sealing_key.recover", "secret.create", "secret.update", "secret.delete", "session.update", "session.reset", "session.stop", "session.stopall", "signing_secret.rotate", "target.create", "target.update", "target.delete", "target.enable", "target.test"]


AuditedKind = Literal["agent", "alert", "budget", "channel", "config", "delivery", "heartbeat", "key", "lane", "member", "org", "provider", "run", "schedule", "sealing_key", "secret", "session", "signing_secret", "target"]


Checklist = ChecklistOption | ChecklistOption2


ExecutorInput = ExecutorInputOption | ExecutorInputOption2 | ExecutorInputOption3 | ExecutorInputOption4 | ExecutorInputOption5 | ExecutorInputOption6 | ExecutorInputOption7


HookAnswer = dict[str, Any]


HookMessage = dict[str, Any]


InlineExecutor = InlineExecutorOption | InlineExecutorOption2 | InlineExecutorOption3


KeyScope = Literal["*", "schedules:*", "tasks:*", "runs:*", "sessions:*", "agents:*", "workers:*", "targets:*", "budgets:*", "secrets:*", "keys:*", "audit:*", "admin:*", "schedules:read", "schedules:write", "schedules:run", "schedules:delete", "tasks:read", "tasks:write", "runs:read", "runs:write", "sessions:read", "sessions:write", "agents:read", "agents:write", "workers:run", "targets:read", "targets:write", "budgets:read", "budgets:write", "secrets:read", "secrets:write", "keys:read", "keys:write", "audit:read"]


Reason = Literal["due", "caught_up", "held", "run_now", "retried", "tested", "misfire", "overlap", "overlap_limit", "failure", "concurrency", "queue_full", "superseded", "schedule_disabled", "backfilled", "backfill_done", "backfill_failing", "backfill_cancelled", "backfill_waits", "no_occurrence", "excluded_date", "clock_change", "other_zone", "before_creation", "before_start", "after_end", "all_fires_made", "not_active", "was_not_active", "switched_off", "retimed", "deleted_by", "awaits_approval", "not_yet", "being_decided", "undecided", "pruned", "not_kept", "folded", "unattended", "ran", "waited", "nothing_planned", "heartbeat_waits", "planned", "no_moment_left", "given_up", "rule_too_dense", "target_open", "nothing_waits", "at_work", "pace_started", "pace_quiet", "pace_changed", "pace_proposed", "pace_kept", "not_at_this_pace", "accepted", "delayed", "debouncing", "merged", "interrupting", "forbidden", "operators_only", "approvers_only", "other_org", "known_sender", "unknown_sender", "org_queue_full", "agent_queue_full", "runs_per_day", "session_queue_full", "not_before", "awaiting_stop", "session_order", "session_limit", "context_throttle", "schedule_limit", "agent_limit", "org_limit", "budget", "provider_quota", "provider_limit", "lane_full", "org_share", "catchup_limit", "executor_offline", "worker_busy", "in_line", "picked", "completed", "probe_no", "not_retryable", "retries_exhausted", "retry_scheduled", "retries_off", "deadline", "no_time_left", "dropped", "interrupted", "stale", "stopped", "stopped_all", "cancelled", "lane_cleared", "stale_report", "probe_yes", "probe_error", "heartbeat_disabled", "outside_active_hours", "no_checklist", "empty_checklist", "no_route", "agent_busy", "heartbeat_due", "heartbeat_asked", "acknowledged", "empty_reply", "duplicate", "heartbeat_news", "deliver", "no_reply", "target_none", "not_announced", "cleared", "target_disabled", "target_off", "target_gone", "run_gone", "delivered", "let_go", "quiet_hours", "alerted", "in_digest", "delivery_retry", "delivery_given_up", "granted", "key_expired", "key_revoked", "target_enabled", "failure_streak", "failure_streak_over", "heartbeat_failing", "heartbeat_works", "heartbeat_changed", "runs_unserved", "runs_served", "engine_stalled", "engine_scans", "node_gone", "occurrence_missed", "occurrence_in_time", "run_late", "run_in_time", "schedule_gone", "budget_no_room", "budget_low", "budget_used_up", "budget_open", "budget_gone"]


RefusalCode = Literal["VALIDATION", "MALFORMED", "BATCH_TOO_LARGE", "UNAUTHENTICATED", "BAD_SIGNATURE", "FORBIDDEN", "FOREIGN_ORIGIN", "CSRF", "GUARD_RAIL", "LINEAGE_DEPTH", "LINEAGE_LOOP", "NOT_FOUND", "METHOD_NOT_ALLOWED", "REQUEST_TIMEOUT", "CONFLICT", "CONCURRENCY_LIMIT", "NOT_RETRYABLE", "ALREADY_ENDED", "PENDING_APPROVAL", "WORKER_LOST", "STALE_VERSION", "BODY_TOO_LARGE", "URL_TOO_LONG", "UNSUPPORTED_MEDIA_TYPE", "MISDIRECTED", "IDEMPOTENCY_MISMATCH", "RULE_TOO_DENSE", "SIMULATION_LIMIT", "SESSION_QUEUE_FULL", "QUEUE_FULL", "RUNS_PER_DAY", "BUDGET", "COMPUTE_BUSY", "SIMULATION_BUSY", "RATE_LIMITED", "GUARD_RAIL_RATE", "HEADERS_TOO_LARGE", "DROPPED", "STALE", "LANE_CLEARED", "INTERNAL", "SECRET_KEY", "DRAINING", "BUSY", "TOO_MANY_CONNECTIONS", "ANSWERS_FULL", "NOT_STARTED", "DATABASE_AWAY"]

