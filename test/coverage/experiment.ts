import { expect } from 'vitest'
import type { RunDetail, RunView } from '../../src/features/runs/schema.ts'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import type { Remote, World as OwnServers } from '../http-scenarios/world.ts'
import { parsePrometheusText, type Exposition } from '../support/prometheus-text.ts'
import type { World } from './world.ts'

/** Plays an experiment once on a shared server, however many checks look at what it showed. */
export function once<T>(play: (world: World) => Promise<T>): (world: World) => Promise<T> {
  const shown = new WeakMap<Remote, Promise<T>>()
  return (world) => {
    const showing = shown.get(world.server) ?? play(world)
    shown.set(world.server, showing)
    return showing
  }
}

/** Plays an experiment once on servers of its own, and keeps what it answered. */
export const onceAlone = <T>(play: (servers: OwnServers) => Promise<T>): ((world: World) => Promise<T>) =>
  once(async (world) => {
    const shown: T[] = []
    await world.alone(async (servers) => {
      shown.push(await play(servers))
    })
    return shown[0] as T
  })

/** A plan that does not fire while a check looks. */
export const NEVER = { cron: '0 0 1 1 *', timezone: 'UTC' } as const

/** Creates a schedule with the names of fields as they are given. */
export async function createSchedule(
  world: World,
  fields: Readonly<Record<string, unknown>>,
): Promise<ScheduleView & Readonly<Record<string, unknown>>> {
  const { status, body } = await world.post('/api/v1/schedules', { name: world.name, ...fields })
  expect(status, JSON.stringify(body)).toBe(201)
  return body as unknown as ScheduleView & Readonly<Record<string, unknown>>
}

export const scheduleOf = async (world: World, id: string): Promise<ScheduleView & Readonly<Record<string, unknown>>> =>
  (await world.get(`/api/v1/schedules/${id}`)).body as unknown as ScheduleView & Readonly<Record<string, unknown>>

/** The run as the address of seed 002 shows it. */
export const scheduleRunOf = async (world: World, id: string): Promise<RunDetail & Readonly<Record<string, unknown>>> =>
  (await world.get(`/api/v1/schedule-runs/${id}`)).body as unknown as RunDetail & Readonly<Record<string, unknown>>

/** Runs a schedule now, and answers with the id of the run. */
export async function runNow(world: World, id: string): Promise<string> {
  const { status, body } = await world.post(`/api/v1/schedules/${id}/run-now`)
  expect(status, JSON.stringify(body)).toBe(202)
  return String(body['run_id'])
}

/** Waits until a run is in this state. */
export const inState = (world: World, id: string, status: RunView['status']): Promise<RunView> =>
  world.until(async () => {
    const run = await world.server.runs.get(id)
    expect(run.status).toBe(status)
    return run
  })

/** What `/metrics` shows to the owner. */
export async function scrape({ url, key }: Pick<Remote, 'url' | 'key'>): Promise<Exposition> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${key}` } })
  expect(answer.status).toBe(200)
  return parsePrometheusText(await answer.text())
}
