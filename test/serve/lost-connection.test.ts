import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ask, createServeWorld, type ServeWorld } from './support.ts'

// A machine that is busy with other tests takes its time.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })

let world: ServeWorld

beforeEach(async () => {
  world = await createServeWorld()
})

afterEach(() => world.end())

/** Ends the session that inserts into a table, so many times; a sequence is not rolled back with it. */
const cutOff = (times: number, table = 'api_key'): Promise<unknown> =>
  world.database.outside(`
    create sequence public.cuts;
    create function public.cut() returns trigger language plpgsql as $$
    begin
      if nextval('public.cuts') <= ${times} then perform pg_terminate_backend(pg_backend_pid()); end if;
      return new;
    end $$;
    create trigger cut before insert on escapement.${table} for each row execute function public.cut()`)

const cuts = (): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  world.database.outside('select last_value::int as tried from public.cuts')

describe('a connection that is lost while the key of the owner is made', () => {
  it('does not keep the server from starting, and one key is made', async () => {
    await cutOff(2)
    const server = world.serve()
    expect((await ask(world, server, { path: '/api/v1/schedules' })).status).toBe(200)
    expect(await cuts()).toEqual([{ tried: 3 }])
    expect(await world.database.outside('select origin from escapement.api_key')).toEqual([{ origin: 'start' }])
    expect(readFileSync(path.join(world.data, 'owner.key'), 'utf8')).toMatch(/^esc_/)
  })

  it('ends the start with a sentence when it is lost again and again', async () => {
    await cutOff(1_000)
    const server = world.serve()
    expect(await server.ended).toBe(1)
    expect(server.stdout()).toBe('')
    expect(server.stderr()).toContain('The connection to the database was lost')
    expect(server.stderr()).not.toContain('    at ')
    expect(await cuts()).toEqual([{ tried: 5 }])
  })
})

describe('a connection that is lost while the first agent is created', () => {
  it('does not keep the server from starting, and there is one agent', async () => {
    await cutOff(2, 'agent')
    const server = world.serve()
    expect((await ask(world, server, { path: '/api/v1/agents' })).status).toBe(200)
    expect(await cuts()).toEqual([{ tried: 3 }])
    expect(await world.database.outside('select id from escapement.agent')).toHaveLength(1)
  })
})
