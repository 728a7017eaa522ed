import { describe, expect, it } from 'vitest'
import { CONFIG_KEYS } from '../../src/platform/config/keys.ts'
import { keysOf } from '../../src/platform/config/tree.ts'
import { EVENT_KINDS } from '../../src/features/events/schema.ts'
import { RPC_METHODS } from '../../src/server/rpc/methods.ts'
import { scheduleFields } from '../../src/features/schedules/schema.ts'
import { PERMISSIONS } from '../../src/domain/access/access.ts'
import { nearestWord } from '../../src/domain/nearest-word.ts'

const LISTS = {
  methods: Object.keys(RPC_METHODS),
  fields: Object.keys(scheduleFields).filter((name) => name !== 'status'),
  groups: Object.keys(CONFIG_KEYS),
  settings: keysOf(CONFIG_KEYS).map(({ path }) => path),
  permissions: Object.keys(PERMISSIONS),
  events: [...EVENT_KINDS],
} as const

describe('a word that is a typing error of a known one', () => {
  it.each([
    ['fields', 'nmae', 'name'],
    ['fields', 'timezoen', 'timezone'],
    ['fields', 'misfirePolicy', 'misfire_policy'],
    ['fields', 'Retry-Policy', 'retry_policy'],
    ['fields', 'overlap_acton', 'overlap_action'],
    ['fields', 'crno_expr', 'cron_expr'],
    ['fields', 'interval_second', 'interval_seconds'],
    ['fields', 'max_concurency', 'max_concurrency'],
    ['fields', 'delvery', 'delivery'],
    ['fields', 'everyms', 'everyMs'],
    ['methods', 'cron.lst', 'cron.list'],
    ['methods', 'crom.list', 'cron.list'],
    ['methods', 'cron.udpate', 'cron.update'],
    ['methods', 'heartbeat.togle', 'heartbeat.toggle'],
    ['methods', 'session.stop', 'sessions.stop'],
    ['groups', 'task', 'tasks'],
    ['groups', 'sesions', 'sessions'],
    ['groups', 'retenton', 'retention'],
    ['settings', 'tasks.max_qeue', 'tasks.max_queue'],
    ['settings', 'tasks.maxQueue', 'tasks.max_queue'],
    ['permissions', 'schedule:write', 'schedules:write'],
    ['permissions', 'schedules:wirte', 'schedules:write'],
    ['events', 'run.chnaged', 'run.changed'],
  ] as const)('of %s: %s is answered with %s', (list, typed, meant) => {
    expect(nearestWord(typed, LISTS[list])).toBe(meant)
  })
})

describe('a word of another system, which resembles a known one by chance', () => {
  it.each([
    // Where `status` is no field.
    ['fields', 'status'],
    ['fields', 'type'],
    ['fields', 'time'],
    ['fields', 'title'],
    ['fields', 'url'],
    ['fields', 'method'],
    ['fields', 'task'],
    ['fields', 'when'],
    ['fields', 'date'],
    ['fields', 'job'],
    ['fields', 'message'],
    ['fields', 'webhook'],
    ['fields', 'retries'],
    ['fields', 'workflow'],
    ['fields', 'priority'],
    ['methods', 'cron.add'],
    ['methods', 'cron.remove'],
    ['methods', 'cron.get'],
    ['methods', 'cron.wake'],
    ['methods', 'chat.send'],
    ['methods', 'connect'],
    ['groups', 'http'],
    ['groups', 'auth'],
    ['groups', 'agents'],
    ['groups', 'worker'],
    ['groups', 'gateway'],
    ['groups', 'providers'],
    ['groups', 'browser'],
    ['permissions', 'read'],
    ['permissions', 'write'],
    ['events', 'task.done'],
  ] as const)('of %s: %s is answered with nothing', (list, typed) => {
    expect(nearestWord(typed, LISTS[list])).toBeNull()
  })

  it('is answered with nothing where two known words are equally near', () => {
    expect(nearestWord('cat', ['car', 'cut'])).toBeNull()
    expect(nearestWord('cat', ['car', 'cat'])).toBe('cat')
  })
})
