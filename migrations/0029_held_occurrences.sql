-- Occurrences that are made up for one after the other are held: rows of `pending` in state `waiting` whose run has a
-- decision with the reason `held`. What is decided at the release replaces `decision`; why it was held is kept here. Nodes
-- of the release before do not know held runs: they start them when their time comes and do not ask the policies.
alter table run add column held_decision jsonb;

-- Releases of one schedule keep their distance, also after a restart.
alter table schedule add column last_release_at timestamptz;
