-- The version of each org in a row of its own, and the history in partitions by hour, which are dropped when they are old.
--
-- Nodes of the release before may be at work. They insert into `turn` as before: the trigger keeps `org_version` for
-- them, and refuses a number that is not the next one under the name they know, `turn_pkey`.

-- One small row per org, written with every turn. No other index, so that each update stays in its page.
create table org_version (
  org_id  text collate "C" not null primary key,
  no      bigint      not null,
  at      timestamptz not null,
  node_id text collate "C" not null
) with (fillfactor = 50);

-- Which node removes what is old, one at a time in the deployment. Its turn ends by itself when the node does.
create table pruner (
  one    boolean     not null primary key default true check (one),
  holder text        not null,
  until  timestamptz not null
) with (fillfactor = 50);

-- From here on turns wait until this migration is done: some seconds for each million rows of history.
lock table turn in access exclusive mode;

insert into org_version (org_id, no, at, node_id)
with recursive known (org_id) as (
  (select org_id from turn order by org_id limit 1)
  union all
  select (select t.org_id from turn t where t.org_id > k.org_id order by t.org_id limit 1)
    from known k where k.org_id is not null)
select n.org_id, n.no, n.at, n.node_id
  from known k
 cross join lateral (select * from turn t where t.org_id = k.org_id order by t.no desc limit 1) n;

alter table turn rename to turn_before;
alter table turn_before rename constraint turn_pkey to turn_before_pkey;

create table turn (like turn_before including storage) partition by range (at);

-- What falls outside of all hours. Partitions have their keys and indexes of their own: a key of the whole table would
-- have to contain the time, and the number alone is what must not come twice. The trigger sees to that.
create table turn_default (like turn including storage, primary key (org_id, no))
  with (autovacuum_vacuum_insert_scale_factor = 0.1);
create index turn_default_by_time on turn_default (at);
alter table turn attach partition turn_default default;

-- The first turn of an org has no version to count on from. Any other number that is not the next one is refused.
create function begin_history(org text, number bigint, written_at timestamptz, node text) returns boolean
language plpgsql as $$
begin
  if number = 1 then
    insert into org_version (org_id, no, at, node_id) values (org, number, written_at, node)
    on conflict (org_id) do nothing;
    if found then
      return true;
    end if;
  end if;
  raise unique_violation using
    message = format('turn %s of org %s is not the next one', number, org),
    constraint = 'turn_pkey', table = 'turn';
end $$;

create function set_org_version() returns trigger language plpgsql as $$
begin
  update org_version set no = new.no, at = new.at, node_id = new.node_id
   where org_id = new.org_id and no = new.no - 1;
  if not found then
    perform begin_history(new.org_id, new.no, new.at, new.node_id);
  end if;
  return new;
end $$;

-- Nodes of this version set the version in the statement that writes the turn.
create trigger turn_sets_org_version before insert on turn for each row
  when (current_query() not like 'with version as (%') execute function set_org_version();

-- Nodes of 0.1.0 empty a deleted org by the place of its rows, and a place names a row in every partition. What they
-- would remove of other orgs stays; what they leave goes with its partition.
create function keep_turn() returns trigger language plpgsql as $$
begin
  return null;
end $$;

create trigger turn_is_not_removed_by_place before delete on turn for each row
  when (current_query() like 'delete from turn where ctid = any%') execute function keep_turn();

-- The history so far is the partition before all others. Of a new deployment it is empty and not needed.
do $$
declare
  newest timestamptz;
begin
  create index turn_before_by_time on turn_before (at);
  select max(at) into newest from turn_before;
  if newest is null then
    drop table turn_before;
  else
    execute format('alter table turn attach partition turn_before for values from (minvalue) to (%L)',
      newest + interval '1 microsecond');
  end if;
end $$;
