-- How large the payload of a schedule is as text. Lists leave large payloads out; without this column the server would
-- have to read and print each of them to know. A trigger keeps it, because nodes of the release before do not know it.
alter table schedule add column payload_bytes integer;

update schedule set payload_bytes = octet_length(payload::text) where payload is not null;

create function measure_payload() returns trigger language plpgsql as $$
begin
  new.payload_bytes := octet_length(new.payload::text);
  return new;
end
$$;

create trigger schedule_payload_bytes before insert or update of payload on schedule
  for each row execute function measure_payload();
