-- How large the payload of a schedule is as text. Lists leave large payloads out; without this column the server would
-- have to read and print each of them to know. Nodes of the release before neither read nor write it.
alter table schedule add column payload_bytes integer generated always as (octet_length(payload::text)) stored;
