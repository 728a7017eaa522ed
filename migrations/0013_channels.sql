-- Where messages come from besides the API, and the conversations there.
--
-- Rules that all statements rely on:
--   1. A person changes a channel under the lock of its org. Who attends to it is a lease of its own, taken and renewed by
--      single statements that wait for nobody: at most one node asks Telegram for updates of a channel.
--   2. How far updates have been taken is written only by whoever holds the lease. What is taken twice all the same is
--      recognised by its number, which is bound like an idempotency key.

create table channel (
  org_id        text collate "C" not null references org (id),
  id            text collate "C" not null,
  -- Part of session keys; never changes.
  name          text collate "C" not null,
  kind          text collate "C" not null check (kind in ('telegram', 'slack', 'hook')),
  agent_id      text collate "C" not null,
  options       jsonb       not null,
  -- Tokens and signing secrets, encrypted.
  sealed_credentials text   not null,
  enabled       boolean     not null,
  -- Who the channel is for the service behind it; known once somebody has attended to it.
  identity      jsonb,
  -- The last update that was taken.
  last_update   bigint,
  -- Who attends to it.
  holder        text collate "C",
  held_until    timestamptz,
  -- How it fares.
  heard_at      timestamptz,
  failed_at     timestamptz,
  failure       text,
  created_by    text collate "C",
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  primary key (org_id, id)
) with (fillfactor = 70);
create unique index channel_name on channel (org_id, name);
-- Requests to hooks name nothing but the channel.
create unique index channel_by_id on channel (id);
create index channel_list on channel (org_id, created_at desc, id desc);

-- A conversation in a channel.
create table chat (
  org_id      text collate "C" not null,
  channel_id  text collate "C" not null,
  peer        text collate "C" not null,
  kind        text collate "C" not null check (kind in ('dm', 'group')),
  title       text,
  agent_id    text collate "C" not null,
  session_key text collate "C" not null,
  heard_at    timestamptz not null,
  primary key (org_id, channel_id, peer)
) with (fillfactor = 70);
create index chat_by_session on chat (org_id, session_key);
create index chat_by_agent on chat (org_id, agent_id, heard_at desc);

-- What shows in a chat that a run is at work, until its answer takes the place.
create table chat_mark (
  org_id      text collate "C" not null,
  run_id      text collate "C" not null,
  channel_id  text collate "C" not null,
  peer        text collate "C" not null,
  -- The messages that are marked as seen.
  messages    text[]      not null,
  -- The message that stands for the answer.
  placeholder text collate "C",
  -- From then on nobody puts up anything new.
  closed_at   timestamptz,
  created_at  timestamptz not null,
  primary key (org_id, run_id)
);
create index chat_mark_by_channel on chat_mark (channel_id, created_at);

-- Results also go back to the conversation they came from, and to somebody in a channel.
alter table delivery drop constraint delivery_kind_check;
alter table delivery add constraint delivery_kind_check check (kind in ('saved', 'callback', 'session', 'channel'));
