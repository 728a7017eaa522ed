-- The longest time limit that an attempt of an org may have, in seconds; null is no limit. Nodes of the release before
-- neither read nor write it.
alter table org add column max_timeout_seconds integer check (max_timeout_seconds > 0);
