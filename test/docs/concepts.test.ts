import { describe, expect, it } from 'vitest'
import { CHANNEL_KINDS } from '../../src/domain/channel/channel.ts'
import { SECRETS_OF } from '../../src/domain/channel/channel-settings.ts'
import { CHAT_OPTIONS } from '../../src/executors/chat/options.ts'
import { DELIVERY_STATES } from '../../src/domain/delivery/delivery.ts'
import { TARGET_KINDS } from '../../src/domain/delivery/target-kinds.ts'
import { HTTP_OPTIONS } from '../../src/executors/http/options.ts'
import { RECORDED_HEARTBEAT_OUTCOMES } from '../../src/domain/heartbeat/heartbeat-ending.ts'
import { HEARTBEAT_DEFAULTS } from '../../src/domain/heartbeat/heartbeat-config.ts'
import { agentId } from '../../src/domain/ids.ts'
import { DEFAULT_LANES, defaultLane } from '../../src/domain/queue/lanes.ts'
import { TRIGGERS } from '../../src/domain/run/run.ts'
import { defaultMaxRetries } from '../../src/domain/run/retry.ts'
import { DEFAULT_RETRY_POLICY, RETRY_STRATEGIES } from '../../src/domain/run/retry-policy.ts'
import { EXECUTOR_KINDS } from '../../src/executors/kinds.ts'
import { DEFAULT_ATTEMPT_TIMEOUT_SECONDS } from '../../src/domain/run/timeouts.ts'
import { SCHEDULE_STATES } from '../../src/domain/schedule/lifecycle.ts'
import {
  CONCURRENCY_POLICIES,
  DEFAULT_SCHEDULE_RULES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
} from '../../src/domain/schedule/rules.ts'
import { DEFAULT_SESSION_RULES, DROP_POLICIES, SESSION_MODES } from '../../src/domain/session/session.ts'
import { DAY_MATCHES } from '../../src/domain/time/cron-match.ts'
import { DST_POLICIES } from '../../src/domain/time/dst-policy.ts'
import { heartbeatConfig } from '../../src/features/heartbeats/view.ts'
import { textOf } from './tracked-files.ts'

/** The first cells of the table under a head, as they are written. */
function rowsUnder(file: string, head: string): readonly (readonly string[])[] {
  const lines = textOf(`docs/concepts/${file}.md`).split('\n')
  const start = lines.findIndex((line, index) => line.startsWith(`| ${head} `) && lines[index + 1]?.startsWith('| -'))
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'))
  return lines.slice(start + 2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** A cell without the marks of code. */
const plain = (cell = ''): string => cell.replaceAll('`', '')

describe('the concept pages', () => {
  it.each<[string, string, readonly string[], string]>([
    ['schedules', '`dst`', DST_POLICIES, 'vixie'],
    ['schedules', '`day_match`', DAY_MATCHES, 'or'],
    ['schedules', '`misfire_policy`', MISFIRE_POLICIES, DEFAULT_SCHEDULE_RULES.misfirePolicy],
    ['schedules', '`overlap_action`', OVERLAP_ACTIONS, DEFAULT_SCHEDULE_RULES.overlapAction],
    ['schedules', '`failure_action`', FAILURE_ACTIONS, DEFAULT_SCHEDULE_RULES.failureAction],
    ['schedules', '`concurrency_policy`', CONCURRENCY_POLICIES, DEFAULT_SCHEDULE_RULES.concurrencyPolicy],
    ['sessions', '`mode`', SESSION_MODES, DEFAULT_SESSION_RULES.mode],
    ['sessions', '`drop`', DROP_POLICIES, DEFAULT_SESSION_RULES.drop],
    ['runs', '`strategy`', RETRY_STRATEGIES, DEFAULT_RETRY_POLICY.strategy],
  ])('of %s list every value of %s and mark the default', (file, head, values, byDefault) => {
    const written = rowsUnder(file, head).map(([cell]) => cell)
    const expected = values.map((value) => (value === byDefault ? `\`${value}\` (default)` : `\`${value}\``))
    expect(written.toSorted()).toEqual(expected.toSorted())
  })

  it('say the sizes of the lanes', () => {
    const written = rowsUnder('lanes', 'Lane').map(([name, size]) => [name?.replaceAll('`', ''), Number(size)])
    expect(Object.fromEntries(written)).toEqual({ ...DEFAULT_LANES })
  })

  it('say every kind of executor that there is, and every option of one over HTTP', () => {
    const names = (head: string) => rowsUnder('agents', head).map(([name]) => name?.replaceAll('`', ''))
    expect(names('`executor.kind`').toSorted()).toEqual(EXECUTOR_KINDS.toSorted())
    expect(names('Option')).toEqual([...HTTP_OPTIONS])
    expect(names('Of a model')).toEqual([...CHAT_OPTIONS])
  })

  it('say the time limits of the executors', () => {
    const written = rowsUnder('runs', 'Executor').map(([name, limit]) => [name?.replaceAll('`', ''), Number(limit)])
    expect(Object.fromEntries(written)).toEqual(DEFAULT_ATTEMPT_TIMEOUT_SECONDS)
  })

  it('say the defaults of a session', () => {
    const written = rowsUnder('sessions', 'Setting').map(([name, value]) => [
      name?.replaceAll('`', ''),
      value?.replaceAll('`', ''),
    ])
    const { mode, cap, drop, debounceMs, maxConcurrent } = DEFAULT_SESSION_RULES
    const expected = {
      mode,
      cap: String(cap),
      drop,
      debounce_ms: String(debounceMs),
      max_concurrent: String(maxConcurrent),
    }
    expect(Object.fromEntries(written)).toEqual(expected)
  })

  it.each<[string, string, readonly string[]]>([
    ['schedules', '`state`', SCHEDULE_STATES],
    ['deliveries', '`status`', DELIVERY_STATES],
    ['heartbeats', 'outcome', RECORDED_HEARTBEAT_OUTCOMES],
    ['runs', 'Trigger', TRIGGERS],
    ['channels', '`kind`', CHANNEL_KINDS],
  ])('of %s list every %s there is', (file, head, values) => {
    expect(rowsUnder(file, head).map(([cell]) => plain(cell))).toEqual([...values])
  })

  it('say which lane each trigger takes', () => {
    for (const [trigger, , lanes = ''] of rowsUnder('runs', 'Trigger')) {
      const woken = TRIGGERS.find((word) => word === plain(trigger))
      if (woken === undefined || woken === 'retry') continue
      const taken = [false, true].map((hasParent) => defaultLane({ trigger: woken, hasParent }))
      expect([...lanes.matchAll(/`(\w+)`/g)].map(([, lane]) => lane)).toEqual([...new Set(taken)])
    }
  })

  it('say who is retried how often', () => {
    const usual = { trigger: 'message', executorKind: 'http', inlineExecutor: false } as const
    const expected = [{}, { trigger: 'task' }, { executorKind: 'command' }, { inlineExecutor: true }] as const
    expect(rowsUnder('runs', 'Who').map(([, count]) => Number(count))).toEqual(
      expected.map((over) => defaultMaxRetries({ ...usual, ...over })),
    )
  })

  it('say of every kind of target how it is reached and who reads it', () => {
    const written = rowsUnder('deliveries', '`kind` of a target').map((cells) => cells.slice(0, 3).map(plain))
    expect(written).toEqual(Object.entries(TARGET_KINDS).map(([kind, { url, audience }]) => [kind, url, audience]))
  })

  it('say which secrets a channel needs', () => {
    const written = rowsUnder('channels', '`kind`').map(([kind, , , secrets]) => [plain(kind), plain(secrets)])
    expect(written).toEqual(CHANNEL_KINDS.map((kind) => [kind, SECRETS_OF[kind].join(', ')]))
  })

  it('say the defaults of a heartbeat', () => {
    const written = new Map(rowsUnder('heartbeats', 'setting').map(([name, value]) => [plain(name), plain(value)]))
    const read = heartbeatConfig({}, { id: agentId('watch') })
    if (!read.ok) throw new Error('nothing given is fine')
    expect([...written.keys()].toSorted()).toEqual(
      Object.keys(read.value)
        .map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
        .toSorted(),
    )
    expect(written.get('interval_seconds')).toBe(String(HEARTBEAT_DEFAULTS.intervalSeconds))
    expect(written.get('ack_max_chars')).toBe(String(HEARTBEAT_DEFAULTS.ackMaxChars))
    expect(written.get('target')).toBe(HEARTBEAT_DEFAULTS.target.kind)
    expect(written.get('session')).toBe(read.value.session.replace('watch', '<agent>'))
  })
})
