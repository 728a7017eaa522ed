import { describe, expect, it } from 'vitest'
import { asCodeDocument } from '../../../src/features/as-code/schema.ts'
import { readShape } from '../../../src/api/read-input.ts'
import { scheduleFields, scheduleInput, type ScheduleInput } from '../../../src/features/schedules/schema.ts'
import { SCHEDULE_SYNONYMS } from '../../../src/domain/as-code/compare.ts'
import { inlineAgentId } from '../../../src/domain/agent.ts'
import { agentId, orgId, scheduleId } from '../../../src/domain/ids.ts'
import { UTC } from '../../../src/domain/time/zone.ts'
import { DOCUMENT_FIELDS, exportedSchedule } from '../../../src/features/as-code/fields.ts'
import { parseSchedule } from '../../../src/features/schedules/input.ts'
import { newScheduleRow } from '../../../src/features/schedules/new-schedule.ts'
import { NOW } from '../../support/builders.ts'

const hourly = { every_seconds: 3_600 }

/** A schedule with each field set to something unusual, and what a document says of that field. */
const SAMPLES: Readonly<Record<string, readonly [ScheduleInput, unknown]>> = {
  name: [{ ...hourly, name: '每小时' }, '每小时'],
  description: [{ ...hourly, description: 'x' }, 'x'],
  agent: [hourly, 'Writer'],
  agent_id: [hourly, undefined],
  executor: [{ ...hourly, executor: { kind: 'echo' } }, { kind: 'echo' }],
  payload: [
    { ...hourly, payload: { prompt: 'p', context: 1 } },
    { prompt: 'p', context: 1 },
  ],
  enabled: [{ ...hourly, enabled: false }, false],
  at: [{ at: '2026-02-01T09:00:00+01:00' }, '2026-02-01T08:00:00.000Z'],
  every_seconds: [hourly, 3_600],
  everyMs: [{ everyMs: 1_500 }, 1_500],
  cron: [{ cron: '0 9 * * *' }, '0 9 * * *'],
  rrule: [{ rrule: 'FREQ=DAILY' }, 'FREQ=DAILY'],
  anchor: [{ ...hourly, anchor: '2026-01-01T00:00:00Z' }, '2026-01-01T00:00:00.000Z'],
  timezone: [{ ...hourly, timezone: 'Asia/Shanghai' }, 'Asia/Shanghai'],
  dst: [{ cron: '0 9 * * *', dst: 'skip' }, 'skip'],
  day_match: [{ cron: '0 9 1 * 1', day_match: 'and' }, 'and'],
  starts_at: [{ ...hourly, starts_at: '2026-02-01T00:00:00Z' }, '2026-02-01T00:00:00.000Z'],
  ends_at: [{ ...hourly, ends_at: '2026-03-01T00:00:00Z' }, '2026-03-01T00:00:00.000Z'],
  exclude: [{ ...hourly, exclude: ['2026-12-24'] }, ['2026-12-24']],
  cadence: [
    { ...hourly, cadence: { min_seconds: 60, max_seconds: 7_200 } },
    { min_seconds: 60, max_seconds: 7_200, stretch: 2, quiet_after: 1 },
  ],
  misfire_policy: [{ ...hourly, misfire_policy: 'skip' as 'SKIP' }, 'SKIP'],
  catchup_limit: [{ ...hourly, catchup_limit: 3 }, 3],
  catchup_window_seconds: [{ ...hourly, catchup_window_seconds: 60 }, 60],
  overlap_action: [{ ...hourly, overlap_action: 'SKIP' }, 'SKIP'],
  max_parallel: [{ ...hourly, overlap_action: 'PARALLEL', max_parallel: 3 }, 3],
  failure_action: [{ ...hourly, failure_action: 'BACKOFF' }, 'BACKOFF'],
  failure_options: [{ ...hourly, failure_options: { threshold: 9 } }, { threshold: 9 }],
  concurrency_policy: [{ ...hourly, concurrency_policy: 'SKIP' }, 'SKIP'],
  max_concurrency: [{ ...hourly, max_concurrency: 3 }, 3],
  queue_depth: [{ ...hourly, queue_depth: 3 }, 3],
  retry_policy: [
    { ...hourly, retry_policy: { strategy: 'ladder', max_retries: 3 } },
    { strategy: 'ladder', max_retries: 3 },
  ],
  max_fires: [{ ...hourly, max_fires: 3 }, 3],
  jitter_ms: [{ ...hourly, jitter_ms: 500 }, 500],
  alert_after: [{ ...hourly, alert_after: 2 }, 2],
  max_lateness_seconds: [{ ...hourly, max_lateness_seconds: 5 }, 5],
  session: [{ ...hourly, session: 'main' }, 'main'],
  lane: [{ ...hourly, lane: 'night' }, 'night'],
  timeout_seconds: [{ ...hourly, timeout_seconds: 5 }, 5],
  delete_after_run: [{ at: '2026-02-01T09:00:00Z', delete_after_run: false }, false],
  delivery: [{ ...hourly, delivery: { target_id: 'tgt_1' } }, { target: 'Ops' }],
  budget: [
    { ...hourly, budget: { unit: 'tokens', amount: 5 } },
    { unit: 'tokens', amount: 5, timezone: 'UTC' },
  ],
  probe: [
    { ...hourly, probe: { kind: 'state', when: { path: '/a', op: 'exists' }, on_error: 'fail' } },
    expect.objectContaining({ kind: 'state', on_error: 'fail' }),
  ],
}

function written(input: ScheduleInput): Readonly<Record<string, unknown>> {
  const id = scheduleId('sch_1')
  const inline = input.executor as { readonly kind: 'echo' } | undefined
  const agent =
    inline === undefined
      ? { id: agentId('writer'), executor: { kind: 'echo' as const }, defaultSession: null }
      : { id: inlineAgentId(inline.kind, id), executor: inline, defaultSession: null }
  const fields = readShape(scheduleInput, input)
  const read = fields.ok ? parseSchedule(fields.value, { now: NOW, defaultZone: UTC, agent, existing: null }) : fields
  if (!read.ok) throw new Error(JSON.stringify(read.flaws))
  const row = newScheduleRow(read.value, { caller: { orgId: orgId('acme'), principal: null }, now: NOW, id })
  const names = { agents: new Map([['writer', 'Writer']]), targets: new Map([['tgt_1', 'Ops']]) }
  return exportedSchedule(row, { ...names, zone: UTC, agent })
}

describe('a schedule in a document', () => {
  it('has a field for everything that a schedule can be given', () => {
    const synonyms: readonly string[] = SCHEDULE_SYNONYMS
    expect(new Set(DOCUMENT_FIELDS)).toEqual(
      new Set([...Object.keys(scheduleFields).filter((name) => !synonyms.includes(name)), 'agent']),
    )
    expect(Object.keys(SAMPLES).toSorted()).toEqual([...DOCUMENT_FIELDS].toSorted())
  })

  it.each(Object.entries(SAMPLES))('carries %s', (field, [input, expected]) => {
    const document = written(input)
    expect(document[field]).toEqual(expected)
    expect(asCodeDocument.safeParse({ version: 1, schedules: [document] }).error?.issues ?? []).toEqual([])
  })

  it('says nothing that goes without saying', () => {
    expect(
      written({ ...hourly, name: 'A', misfire_policy: 'catch_up_limited' as 'CATCH_UP_LIMITED', session: 'isolated' }),
    ).toEqual({
      ...{ name: 'A', agent: 'Writer', every_seconds: 3_600 },
    })
    expect(written({ cron: '@hourly', name: 'B', payload: { prompt: 'Look' }, enabled: true })).toEqual({
      ...{ name: 'B', agent: 'Writer', cron: '@hourly', timezone: 'UTC', payload: 'Look' },
    })
  })
})
