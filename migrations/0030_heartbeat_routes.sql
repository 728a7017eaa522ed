-- Heartbeats that reach the conversation used last, and that say when they come to nothing.

alter table heartbeat
  -- The newest conversation outside of channels in which the agent was sent a message, and how far runs were looked at.
  add column last_session    text collate "C",
  add column last_session_at timestamptz,
  add column looked_until    timestamptz,
  -- Heartbeats in a row that failed or had no route, and the alert about them while it is open.
  add column failing_streak  integer not null default 0,
  add column alert_id        text collate "C";

-- The conversation to which the reply was added; null when it went elsewhere.
alter table heartbeat_log add column session_key text collate "C";
create index heartbeat_log_session on heartbeat_log (org_id, session_key, finished_at) where session_key is not null;
