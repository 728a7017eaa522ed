-- What ended runs used, counted for ever beside how they ended: `usage` has the keys `tokens` and `money` (millionths).
-- The release before this one neither writes nor reads the kind, and adds up what it finds in turns under any name.
alter table run_count drop constraint run_count_kind_check,
  add constraint run_count_kind_check check (kind in ('status', 'duration', 'lateness', 'usage'));
