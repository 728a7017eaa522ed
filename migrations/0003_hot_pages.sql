-- Room for the second version of a row in its page: with less, one ending in six went into every index anew.
alter table run set (fillfactor = 40);
alter table pending set (fillfactor = 33);

-- The key is made again so that it is the youngest index of its table. While the table is empty, every index that has
-- both columns costs the planner the same, and of equals it takes the youngest; another one would be walked from end to
-- end for each run.
create unique index run_key on run (org_id, id);
alter table run drop constraint run_pkey, add constraint run_pkey primary key using index run_key;
