-- Where results go, what is on its way there, and what somebody should look at.
--
-- Rules that all statements rely on:
--   1. A delivery is written in the transaction that ends its run, and changed under the lock of its org, with one
--      exception: whoever sends claims it first, by a statement of its own that waits for nobody.
--   2. A claim is a name nobody else has and a moment until which it holds. What came of a try is written only while the
--      claim is the one that was sent under, so a sender that was away too long changes nothing.

create table target (
  org_id            text collate "C" not null references org (id),
  id                text collate "C" not null,
  name              text        not null,
  kind              text        not null check (kind in ('webhook')),
  url               text        not null,
  failures_in_a_row integer     not null default 0 check (failures_in_a_row >= 0),
  -- Set while it is switched off; `disabled_why` is null when a person did it.
  disabled_at       timestamptz,
  disabled_why      jsonb,
  delivered_at      timestamptz,
  failed_at         timestamptz,
  created_by        text collate "C",
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  primary key (org_id, id)
) with (fillfactor = 70);
create index target_list on target (org_id, created_at desc, id desc);

-- Where the result of a run goes: {"target": id} or {"callback": url}. Null for nearly every run.
alter table run add column delivery jsonb;

-- Which schedules deliver to a target. Most deliver nowhere and are not in it.
create index schedule_by_target on schedule (org_id, (input -> 'delivery' ->> 'target_id')) where input ? 'delivery';

create table delivery (
  org_id        text collate "C" not null,
  id            text collate "C" not null,
  run_id        text collate "C" not null,
  kind          text collate "C" not null check (kind in ('saved', 'callback')),
  target_id     text collate "C",
  url           text,
  -- What goes to one receiver: the target, or the origin of a callback. Of each so many are sent at a time.
  line          text collate "C" not null,
  state         text collate "C" not null check (state in ('pending', 'held', 'delivered', 'failed', 'kept')),
  -- Since it was made, or was last let go on by a person, and in all.
  tries         integer     not null default 0,
  tries_in_all  integer     not null default 0,
  next_try_at   timestamptz,
  claim         text collate "C",
  claimed_until timestamptz,
  why           jsonb       not null,
  -- The whole output, when the run keeps only the beginning of it.
  output        json,
  -- What was sent, once nobody tries any more: its run may be gone when a person wants it sent after all.
  body          text,
  created_at    timestamptz not null,
  finished_at   timestamptz,
  primary key (org_id, id),
  constraint delivery_goes_somewhere check ((kind = 'saved') = (target_id is not null) and (kind = 'callback') = (url is not null)),
  constraint delivery_is_due check (state <> 'pending' or next_try_at is not null),
  constraint delivery_ended_is_finished check ((state in ('delivered', 'failed', 'kept')) = (finished_at is not null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

create index delivery_due on delivery (org_id, line, next_try_at, id) where state = 'pending';
create index delivery_next on delivery (next_try_at) where state = 'pending';
create index delivery_held on delivery (org_id, target_id) where state in ('pending', 'held');
create index delivery_of_run on delivery (org_id, run_id);
-- Runs whose result is still on its way, which are not pruned.
create index delivery_unfinished on delivery (org_id, run_id) where finished_at is null;
create index delivery_list on delivery (org_id, created_at, id);
create index delivery_by_target on delivery (org_id, target_id, created_at, id) where target_id is not null;
create index delivery_by_state on delivery (org_id, state, created_at, id) where state <> 'delivered';
create index delivery_ended on delivery (org_id, kind, finished_at) where finished_at is not null;

create table delivery_try (
  org_id      text collate "C" not null,
  delivery_id text collate "C" not null,
  number      integer     not null,
  node_id     text collate "C" not null,
  started_at  timestamptz not null,
  finished_at timestamptz not null,
  ok          boolean     not null,
  status_code integer,
  error_code  text collate "C",
  message     text,
  primary key (org_id, delivery_id, number)
);

-- What somebody should look at. It is open until it clears itself.
create table alert (
  org_id     text collate "C" not null,
  id         text collate "C" not null,
  kind       text collate "C" not null,
  -- What it is about: `target` and its id, …
  subject_kind text collate "C" not null,
  subject_id text collate "C" not null,
  why        jsonb       not null,
  raised_at  timestamptz not null,
  cleared_at timestamptz,
  cleared_why jsonb,
  primary key (org_id, id)
);
create unique index alert_open on alert (org_id, kind, subject_id) where cleared_at is null;
create index alert_list on alert (org_id, raised_at, id);

-- What webhooks of an org are signed with. After a change the one before signs too for a while.
create table signing_secret (
  org_id         text collate "C" not null primary key,
  secret         text        not null,
  created_at     timestamptz not null,
  previous       text,
  previous_until timestamptz,
  constraint signing_secret_previous_ends check ((previous is null) = (previous_until is null))
);
