import { describe, expect, it } from 'vitest'
import {
  restrictionsIn,
  RESTRICTION_FIELDS,
  RESTRICTION_NAMES,
  restrictionsText,
  SELF_SERVICE,
} from '../../src/features/access/cli-restrictions.ts'
import { valuesOf } from '../../src/cli/remote/fields.ts'
import { optionsOf } from '../../src/cli/remote/schema-options.ts'
import { agentInput } from '../../src/features/agents/schema.ts'
import { DEFAULT_RESTRICTIONS } from '../../src/domain/access/restrictions.ts'
import { viewRestrictions } from '../../src/features/access/restrictions.ts'
import { NOW } from '../support/builders.ts'

const given = (options: object) => restrictionsIn(valuesOf(RESTRICTION_FIELDS, options, NOW))

describe('guard rails on the command line', () => {
  it('are given one by one, all together, or both', () => {
    expect(given({})).toEqual({})
    expect(given({ guardRails: 'on' })).toEqual({ guard_rails: {} })
    expect(given({ minInterval: '15m', maxLifetime: '7d', approval: true, allSchedules: true })).toEqual({
      guard_rails: {
        ...{ min_interval_seconds: 900, max_lifetime_seconds: 604_800 },
        ...{ approval: true, own_schedules_only: false },
      },
    })
    expect(given({ guardRails: '{"max_schedules": 1}', railBudget: '2.50 money/month' })).toEqual({
      guard_rails: { max_schedules: 1, budget: { unit: 'money', amount: 2.5, period: 'month' } },
    })
    expect(() => given({ railBudget: 'a lot' })).toThrow('Allowed: 5000 tokens/day')
    expect(RESTRICTION_NAMES['/guard_rails/max_schedules']).toBe('--max-schedules')
  })

  it('are taken away from an agent with a word', () => {
    const options = optionsOf(agentInput, { self_service: SELF_SERVICE })
    expect(valuesOf(options, { selfService: 'off' }, NOW)).toEqual({ self_service: null })
    expect(valuesOf(options, { selfService: 'on' }, NOW)).toEqual({ self_service: {} })
  })

  it('are told in one line', () => {
    expect(restrictionsText(null)).toBeNull()
    expect(restrictionsText(viewRestrictions(DEFAULT_RESTRICTIONS))).toBe(
      'own schedules only, at most 10 schedules, at least 60 s between runs, at most 60 operations per hour',
    )
  })
})
