-- What nobody may read in the tables: values that are kept sealed, and which keys they are sealed with.
--
-- The keys themselves are never in the database. A sealed text is `v1.<id of the key>.<nonce, ciphertext and tag>`, bound
-- to its org, kind and name: moved to another row it cannot be opened.

create table secret (
  org_id       text collate "C" not null references org (id),
  name         text collate "C" not null,
  -- The only places it may go to.
  hosts        text[]      not null check (cardinality(hosts) > 0),
  sealed_value text        not null,
  version      integer     not null,
  created_by   text collate "C",
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  value_set_at timestamptz not null,
  primary key (org_id, name)
);

-- Keys by what tells them apart, which gives nothing away. One of them seals; what the others have sealed is opened with
-- them until somebody has it sealed anew.
create table sealing_key (
  id          text collate "C" not null primary key,
  taken_at    timestamptz not null,
  replaced_at timestamptz
);
create unique index sealing_key_in_use on sealing_key ((true)) where replaced_at is null;

-- The keys a node has. The release before this one knows none and says nothing, so what it reads stays as it can read it
-- for as long as a node of it is alive: see src/service/signing-secret.ts.
alter table node add column key_ids text[] not null default '{}';

-- Of a target whose address is enough to post there; `url` holds what is shown of it then.
alter table target add column sealed_url text;

-- The secret that signs webhooks is sealed once every node can open it; until then it stays where it was.
alter table signing_secret
  alter column secret drop not null,
  add column sealed text,
  add column previous_sealed text,
  drop constraint signing_secret_previous_ends,
  add constraint signing_secret_previous_ends
    check ((previous is null and previous_sealed is null) = (previous_until is null)),
  add constraint signing_secret_is_kept check (num_nonnulls(secret, sealed) = 1),
  add constraint signing_secret_previous_once check (num_nonnulls(previous, previous_sealed) < 2);
