import { describe, expect, it } from 'vitest'
import { runId, scheduleId } from '../../../src/domain/ids.ts'
import { discriminatorOf, jobRunIdOf } from '../../../src/domain/schedule/occurrence-key.ts'
import { at } from '../../support/schedules.ts'

const base = { scheduleId: scheduleId('sch_1'), nominal: at('2026-01-15T12:00:00Z') }

describe('the key of an occurrence', () => {
  it('is the same whoever decides it and however late', () => {
    expect(jobRunIdOf({ kind: 'occurrence', ...base })).toBe('sch_1@2026-01-15T12:00:00.000Z')
    expect(discriminatorOf({ kind: 'occurrence', ...base })).toBe('')
  })

  it('leaves room for a manual run and a backfill of the same moment', () => {
    const keys = [
      jobRunIdOf({ kind: 'occurrence', ...base }),
      jobRunIdOf({ kind: 'manual', ...base, runId: runId('run_7') }),
      jobRunIdOf({ kind: 'manual', ...base, runId: runId('run_8') }),
      jobRunIdOf({ kind: 'backfill', ...base, backfillId: 'run_7' }),
    ]
    expect(new Set(keys).size).toBe(4)
    expect(keys[1]).toBe('sch_1@2026-01-15T12:00:00.000Z/manual:run_7')
  })
})
