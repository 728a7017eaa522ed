-- The list of runs by trigger. Messages and tasks are the bulk of most tables and pay nothing for it: tasks have an index
-- of their own, and the newest messages are among the newest runs.
create index run_by_trigger on run (org_id, trigger, created_at, id) where trigger not in ('message', 'task');
