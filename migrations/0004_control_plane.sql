-- Who may ask, and who has changed what.
--
-- Rules that all statements rely on:
--   1. Of keys, links and cookies only the SHA-256 is stored: whoever reads these tables cannot sign in with them.
--   2. Whoever writes `audit` holds the lock of the org and moves `audit_head` in the same transaction. Numbers have no
--      gaps, each record has the hash of the one before it in its own, and nothing is ever changed or removed.

-- An org that is being deleted is there no more for anybody; its rows go in small steps.
alter table org add column deleted_at timestamptz;

create table api_key (
  org_id       text collate "C" not null references org (id),
  id           text collate "C" not null,
  name         text        not null,
  key_hash     bytea       not null unique check (octet_length(key_hash) = 32),
  -- The beginning of the text, so that people can tell keys apart.
  hint         text        not null,
  role         text        not null check (role in ('owner', 'admin', 'member', 'viewer')),
  scopes       text[],     -- null: everything the role may do
  -- Made by a person, or at the first start, or named by the environment.
  origin       text        not null check (origin in ('person', 'start', 'environment')),
  created_by   text collate "C",
  created_at   timestamptz not null,
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz,
  primary key (org_id, id)
) with (fillfactor = 80);

-- Somebody who works in the org and signs in by a link made for them.
create table member (
  org_id          text collate "C" not null references org (id),
  id              text collate "C" not null,
  name            text        not null,
  email           text,
  role            text        not null check (role in ('owner', 'admin', 'member', 'viewer')),
  created_by      text collate "C",
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  last_sign_in_at timestamptz,
  primary key (org_id, id)
);
create unique index member_email on member (org_id, lower(email)) where email is not null;

-- Links that sign in once. A link that was used is gone.
create table sign_in (
  token_hash bytea       not null primary key check (octet_length(token_hash) = 32),
  org_id     text collate "C" not null,
  member_id  text collate "C" not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  foreign key (org_id, member_id) references member (org_id, id) on delete cascade
);
create index sign_in_by_member on sign_in (org_id, member_id);
create index sign_in_by_age on sign_in (expires_at);

-- Browsers that are signed in.
create table console_session (
  cookie_hash bytea       not null primary key check (octet_length(cookie_hash) = 32),
  org_id      text collate "C" not null,
  member_id   text collate "C" not null,
  created_at  timestamptz not null,
  seen_at     timestamptz not null,
  expires_at  timestamptz not null,
  foreign key (org_id, member_id) references member (org_id, id) on delete cascade
) with (fillfactor = 80);
create index console_session_by_member on console_session (org_id, member_id);
create index console_session_by_age on console_session (expires_at);

-- No reference to the org: what was done outlives it.
create table audit (
  org_id      text collate "C" not null,
  no          bigint      not null check (no > 0),
  at          timestamptz not null,
  actor       text collate "C" not null,
  action      text collate "C" not null,
  object_kind text collate "C" not null,
  object_id   text collate "C" not null,
  before      jsonb,
  after       jsonb,
  hash        bytea       not null check (octet_length(hash) = 32),
  primary key (org_id, no)
);
create index audit_by_object on audit (org_id, object_kind, object_id, no);
create index audit_by_actor on audit (org_id, actor, no);

-- How far the chain of an org goes, apart from the chain: what is cut off its end is missed here.
create table audit_head (
  org_id text collate "C" not null primary key,
  no     bigint not null check (no > 0),
  hash   bytea  not null check (octet_length(hash) = 32)
) with (fillfactor = 50);

create function refuse_change_of_audit() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is only ever added to' using errcode = 'integrity_constraint_violation';
end
$$;

create trigger audit_is_kept before update or delete on audit
  for each row execute function refuse_change_of_audit();
create trigger audit_is_not_emptied before truncate on audit
  for each statement execute function refuse_change_of_audit();
create trigger audit_head_is_kept before delete on audit_head
  for each row execute function refuse_change_of_audit();
create trigger audit_head_is_not_emptied before truncate on audit_head
  for each statement execute function refuse_change_of_audit();
