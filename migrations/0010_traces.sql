-- The trace a run belongs to, as the W3C header `traceparent` has it. Null for nearly every run: nobody has asked for it to
-- be traced. The release before this one does not know it and leaves it null.
alter table run add column trace text;
