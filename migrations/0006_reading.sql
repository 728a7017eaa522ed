-- The list of runs by trigger. Messages and tasks are the bulk of most tables and pay nothing for it: tasks have an index
-- of their own, and the newest messages are among the newest runs.
create index run_by_trigger on run (org_id, trigger, created_at, id) where trigger not in ('message', 'task');

-- The list of runs by ending. An index on run.state would make every ending write into all indexes of the table, so the few
-- runs that did not succeed are listed here, and those that did pay nothing but the look at the condition of the triggers.
-- Triggers and not statements of ours: nodes of the release before keep the list too.
create table unsuccessful_run (
  org_id     text collate "C" not null,
  state      text collate "C" not null,
  created_at timestamptz not null,
  id         text collate "C" not null,
  agent_id   text collate "C" not null,
  trigger    text collate "C" not null,
  primary key (org_id, state, created_at, id) include (agent_id, trigger)
);

create function list_unsuccessful_run() returns trigger language plpgsql as $$
begin
  insert into unsuccessful_run (org_id, state, created_at, id, agent_id, trigger)
  values (new.org_id, new.state, new.created_at, new.id, new.agent_id, new.trigger)
  on conflict do nothing;
  return null;
end $$;

create function unlist_unsuccessful_run() returns trigger language plpgsql as $$
begin
  delete from unsuccessful_run
   where org_id = old.org_id and state = old.state and created_at = old.created_at and id = old.id;
  return null;
end $$;

-- While a run is pending its state is null, and the condition is not met.
create trigger run_is_made_unsuccessful after insert on run
  for each row when (new.state <> 'success') execute function list_unsuccessful_run();
create trigger run_ends_unsuccessful after update of state on run
  for each row when (new.state <> 'success') execute function list_unsuccessful_run();
create trigger unsuccessful_run_is_gone after delete on run
  for each row when (old.state <> 'success') execute function unlist_unsuccessful_run();

insert into unsuccessful_run (org_id, state, created_at, id, agent_id, trigger)
select org_id, state, created_at, id, agent_id, trigger from run where state <> 'success';
