-- What a runtime itself says about a result: {session_id, message_id, error_code, summary}, each only where it was said; a
-- summary is here when it is not a text. Null for nearly every run. Nodes of the release before leave it null.
alter table run add column reported jsonb;
alter table attempt add column agent_error_code text;

-- Runs by the error code of their runtime, newest first. Only runs that did not succeed have one.
alter table unsuccessful_run add column agent_error_code text;

create or replace function list_unsuccessful_run() returns trigger language plpgsql as $$
begin
  insert into unsuccessful_run (org_id, state, created_at, id, agent_id, trigger, agent_error_code)
  values (new.org_id, new.state, new.created_at, new.id, new.agent_id, new.trigger, new.reported ->> 'error_code')
  on conflict do nothing;
  return null;
end $$;

create index unsuccessful_run_by_agent_error on unsuccessful_run (org_id, agent_error_code, created_at, id)
  where agent_error_code is not null;
