-- Targets of more than one kind, with quiet hours, that alerts are sent to; what a schedule has alerted of; when a node
-- last looked at what is due.
--
-- One more rule that statements rely on: what an engine that stands still is told about is written without the lock of
-- its org, because whoever holds that may be what it stands still for. Such rows are new; nobody else changes them yet.

alter table target drop constraint target_kind_check;
alter table target add column settings jsonb not null default '{}';
alter table target add column quiet_hours jsonb;
-- Alerts of the org go to it.
alter table target add column alerts boolean not null default false;
create index target_of_alerts on target (org_id) where alerts;

-- What is sent without being the result of a run: an alert, or a digest of what came in quiet hours.
alter table delivery alter column run_id drop not null;
alter table delivery add column alert_id text collate "C";
-- The message that this one is part of.
alter table delivery add column digest_id text collate "C";
alter table delivery add column is_digest boolean not null default false;
create index delivery_quiet on delivery (next_try_at) where state = 'held' and next_try_at is not null;
create index delivery_in_digest on delivery (org_id, digest_id, created_at, id) where digest_id is not null;

create index alert_by_kind on alert (org_id, kind, raised_at, id);
create index alert_by_subject on alert (org_id, subject_id, raised_at, id);

-- The open alerts of a schedule by kind, with their ids. Null for nearly every schedule.
alter table schedule add column alerts jsonb;

-- When a node last looked at what is due; null until it has.
alter table node add column scanned_at timestamptz;
