import { describe, expect, it } from 'vitest'
import type { EscapementOptions } from '../../src/library/escapement.ts'
import { createEscapement } from '../../src/index.ts'
import { chat, refused } from './support.ts'
import { scenario } from './world.ts'

// What programs hand in that no compiler has read: each mistake is named where it is made, and nothing is done.

const creating = (options: unknown) => (): unknown => createEscapement(options as EscapementOptions)

describe('options', () => {
  it.each([
    [null, 'options null: must be an object (allowed: an object, or nothing)'],
    ['postgres://here', 'options "postgres://here": must be an object'],
    [{ agent: {} }, 'agent: is not a known option; did you mean agents? (allowed: database, agents,'],
    [{ agents: [() => 1] }, 'agents [null]: must be an object'],
    [{ agents: { clerk: 'clerk.js' } }, 'agents.clerk "clerk.js": must be a function (allowed: (run, context) =>'],
    [
      { database: 5 },
      'database 5: must be an object (allowed: a URL (postgres://…), { url } or { data: a directory })',
    ],
    [{ database: { dir: 'x' } }, 'database.dir: is not a known option (allowed: data, url, schema, pool)'],
    [{ log: 'debug' }, 'log "debug": must be a function'],
    [{ lanes: { main: '2' } }, 'lanes.main "2": must be a whole number'],
    [{ alerts: { stall_periods: -1 } }, 'alerts.stall_periods -1: is out of range'],
  ])('%j are refused before anything is opened', (options, message) => {
    expect(creating(options)).toThrow(message)
  })

  it('may be left out, also by giving nothing for them', () => {
    expect(creating({ agents: undefined, database: undefined, log: undefined, lanes: undefined })).not.toThrow()
  })
})

describe('settings', () => {
  it('are typed by the table of keys, groups and words alike', () => {
    const { reload } = createEscapement({ alerts: { failures_in_a_row: 5 }, sessions: { mode: 'followup' } })
    expect(() => reload({ alerts: { stall_periods: 4 }, retention: { run_days: null } })).not.toThrow()
    // @ts-expect-error there is no such mode
    expect(() => reload({ sessions: { mode: 'sometimes' } })).toThrow('sessions.mode "sometimes"')
    // @ts-expect-error there is no such setting
    expect(() => reload({ alerts: { stall_period: 4 } })).toThrow('did you mean stall_periods?')
  })
})

describe('calls', () => {
  const nothing = undefined as never

  it('are refused for events that there are not, and for nobody who hears', () => {
    const node = createEscapement()
    expect(() => node.on('run.change' as never, () => undefined)).toThrow(/kind "run.change": .*run\.changed/)
    expect(() => node.on('run.changed', nothing)).toThrow('hear: must be a function')
  })

  scenario('that lack what they are about are refused in words', async (world) => {
    const node = await world.start()
    const flawed = async (call: Promise<unknown>): Promise<string> => (await refused(call, 'VALIDATION')).message
    expect(await flawed(node.sessions.send(chat('a'), nothing))).toMatch(/must be an object .*with text/)
    expect(await flawed(node.schedules.create(nothing))).toMatch(/schedule: must be an object .*cron/)
    expect(await flawed(node.schedules.update('sch_1', nothing))).toMatch(/change: must be an object/)
    expect(await flawed(node.agents.register('later', nothing))).toMatch(/handler: must be a function/)
    await refused(node.runs.wait(nothing), 'NOT_FOUND')
  })
})
