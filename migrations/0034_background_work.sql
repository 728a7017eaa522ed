-- Work that an attempt left to a service in the background: what its executor needs to fetch the result, and when to ask
-- next; poll_at is null once nothing is left to ask. Both are null for nearly every token. Nodes of the release before
-- leave them null and ask for nothing.
alter table callback add column work jsonb;
alter table callback add column poll_at timestamptz;

create index callback_to_poll on callback (poll_at) where poll_at is not null;
