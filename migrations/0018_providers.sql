-- Services that several agents call, with quotas that all of them share. The state is decided in turns under the org's
-- lock and written with them: levels are sixty-thousandths of a request or token that were left at `level_at`.
-- The release before this one knows no provider: what its nodes start is not counted.
create table provider (
  org_id              text collate "C" not null references org (id),
  name                text collate "C" not null,
  requests_per_minute integer     check (requests_per_minute > 0),
  tokens_per_minute   integer     check (tokens_per_minute > 0),
  max_concurrent      integer     check (max_concurrent > 0),
  requests_level      bigint      not null,
  tokens_level        bigint      not null,
  level_at            timestamptz not null,
  blocked_until       timestamptz,
  refusals            integer     not null default 0 check (refusals >= 0),
  created_at          timestamptz not null,
  updated_at          timestamptz not null,
  primary key (org_id, name)
) with (fillfactor = 50);

-- The provider an agent calls. Whether it exists is checked where agents and providers change, under the org's lock.
alter table agent add column provider text collate "C";
