-- Who has acknowledged an alert, and until when it is snoozed.

alter table alert add column acknowledged_at timestamptz;
alter table alert add column acknowledged_by text collate "C";
alter table alert add column snoozed_until timestamptz;
