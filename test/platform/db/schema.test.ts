import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DATABASE_ERRORS } from '../../../src/platform/db/database-error.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { ROOT } from '../../tooling/root.ts'
import { describeSchema } from './schema-text.ts'

let world: TestDatabase

beforeAll(async () => {
  world = await createTestDatabase()
})
afterAll(() => world.drop())

describe('the schema', () => {
  it('is the one in schema.sql (after a new migration: vitest run test/platform/db/schema.test.ts -u)', async () => {
    await expect(await describeSchema(world, 'escapement')).toMatchFileSnapshot('./schema.sql')
  })

  it('shows everything a migration can make', async () => {
    await world.outside(`
      create schema probe; set search_path = probe;
      create type colour as enum ('red', 'blue');
      create table a (id bigint generated always as identity primary key, c colour not null default 'red',
        twice int generated always as (length('x') * 2) stored, name text collate "C") with (fillfactor = 70);
      create table b (a bigint references a on delete cascade, n int check (n > 0), unique (a, n));
      create unlogged table c (n int);
      create index b_positive on b (n desc) where n > 5;
      create view v as select n from b;
      create function f() returns trigger language plpgsql as 'begin return null; end';
      create trigger t after insert on b for each row execute function f()`)
    expect(await describeSchema(world, 'probe')).toMatchInlineSnapshot(`
      "create type colour as enum ('red', 'blue');

      create sequence a_id_seq as bigint increment 1 start 1;

      create table a (
        id bigint not null generated as identity,
        c colour not null default 'red'::colour,
        twice integer generated always as ((length('x'::text) * 2)) stored,
        name text collate C
      ) with (fillfactor=70);
      create table b (
        a bigint,
        n integer
      );
      create unlogged table c (
        n integer
      );

      alter table a add constraint a_pkey PRIMARY KEY (id);
      alter table b add constraint b_a_fkey FOREIGN KEY (a) REFERENCES a(id) ON DELETE CASCADE;
      alter table b add constraint b_a_n_key UNIQUE (a, n);
      alter table b add constraint b_n_check CHECK ((n > 0));

      CREATE INDEX b_positive ON b USING btree (n DESC) WHERE (n > 5);

      -- view v (n integer)

      CREATE OR REPLACE FUNCTION f()
       RETURNS trigger
       LANGUAGE plpgsql
      AS $function$begin return null; end$function$
      ;

      CREATE TRIGGER t AFTER INSERT ON b FOR EACH ROW EXECUTE FUNCTION f();
      "
    `)
  })
})

describe('the stores and the migrations', () => {
  const files = ['src', 'migrations']
    .flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name))),
    )
    .filter((file) => /^migrations\/|^src\/platform\/db\/|store\.ts$/.test(file))
  const CLOCKS =
    /\b(now|transaction_timestamp|statement_timestamp|clock_timestamp|timeofday)\s*\(|\b(current_(timestamp|date|time)|localtime(stamp)?)\b/gi
  const clocksIn = (text: string): readonly string[] => text.replaceAll('performance.now()', '').match(CLOCKS) ?? []

  it('ask for the present in one place', () => {
    const asking = files.filter((file) => clocksIn(readFileSync(path.join(ROOT, file), 'utf8')).length > 0)
    expect(asking).toEqual(['src/platform/db/clock.ts'])
  })

  it('would be caught asking', () => {
    for (const text of ['select now()', 'default CURRENT_TIMESTAMP', 'at < localtimestamp', 'x = Now ()', 'Date.now()'])
      expect(clocksIn(text), text).not.toEqual([])
  })
})

describe('docs/concepts/database.md', () => {
  const text = readFileSync(path.join(ROOT, 'docs/concepts/database.md'), 'utf8')
  const rows = [...text.matchAll(/^\| `([a-z_]+)` +\| (.*?) +\| (.*?) +\|$/gm)].map(([, code, says, way]) => [
    code,
    says,
    way,
  ])

  it('lists every refusal as the program says it', () => {
    expect(rows).toEqual(Object.entries(DATABASE_ERRORS).map(([code, { says, way }]) => [code, says, way]))
  })
})
