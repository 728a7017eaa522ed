-- A browser may be signed in with a key instead of by a member's link. The release before this one finds no member for
-- such a session and takes it for none.
alter table console_session
  alter column member_id drop not null,
  add column key_id text collate "C",
  add foreign key (org_id, key_id) references api_key (org_id, id) on delete cascade,
  add constraint console_session_of_one check (num_nonnulls(member_id, key_id) = 1);
create index console_session_by_key on console_session (org_id, key_id) where key_id is not null;
