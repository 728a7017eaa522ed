create table migration (
  number integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null
);

alter table migration add constraint migration_number_check CHECK ((number > 0));
alter table migration add constraint migration_pkey PRIMARY KEY (number);
