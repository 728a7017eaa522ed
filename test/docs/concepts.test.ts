import { describe, expect, it } from 'vitest'
import { CHAT_OPTIONS } from '../../src/core/chat/chat-options.ts'
import { HTTP_OPTIONS } from '../../src/core/executor/http-options.ts'
import { DEFAULT_LANES } from '../../src/core/lanes.ts'
import { DEFAULT_RETRY_POLICY, RETRY_STRATEGIES } from '../../src/core/run/retry-policy.ts'
import { DEFAULT_TIMEOUT_SECONDS, EXECUTOR_KINDS } from '../../src/core/run/timeouts.ts'
import {
  CONCURRENCY_POLICIES,
  DEFAULT_SCHEDULE_RULES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
} from '../../src/core/schedule/schedule-rules.ts'
import { DEFAULT_SESSION_RULES, DROP_POLICIES, SESSION_MODES } from '../../src/core/session/session-rules.ts'
import { DST_POLICIES } from '../../src/core/time/cron.ts'
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

describe('the concept pages', () => {
  it.each<[string, string, readonly string[], string]>([
    ['schedules', '`dst`', DST_POLICIES, 'vixie'],
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
    expect(Object.fromEntries(written)).toEqual(DEFAULT_TIMEOUT_SECONDS)
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
})
