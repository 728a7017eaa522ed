-- Where a schedule whose interval moves by itself stands: how far it has moved, from when it counts, and why. Null for
-- nearly every schedule. Nodes of the release before neither read nor write it: what they fire comes at the interval that
-- the schedule was given.
alter table schedule add column pace jsonb;
