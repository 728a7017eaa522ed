import { describe, expect, it } from 'vitest'
import { gatherRails, RAIL_FIELDS, RAIL_NAMES, SELF_SERVICE } from '../../src/cli/commands/rail-fields.ts'
import { railsText } from '../../src/cli/commands/rails-text.ts'
import { valuesOf } from '../../src/cli/remote/fields.ts'
import { optionsOf } from '../../src/cli/remote/schema-options.ts'
import { agentInput } from '../../src/features/agents/schema.ts'
import { RAIL_DEFAULTS } from '../../src/core/rails/guard-rails.ts'
import { viewGuardRails } from '../../src/service/rails/view.ts'
import { NOW } from '../support/builders.ts'

const given = (options: object) => gatherRails(valuesOf(RAIL_FIELDS, options, NOW))

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
    expect(RAIL_NAMES['/guard_rails/max_schedules']).toBe('--max-schedules')
  })

  it('are taken away from an agent with a word', () => {
    const options = optionsOf(agentInput, { self_service: SELF_SERVICE })
    expect(valuesOf(options, { selfService: 'off' }, NOW)).toEqual({ self_service: null })
    expect(valuesOf(options, { selfService: 'on' }, NOW)).toEqual({ self_service: {} })
  })

  it('are told in one line', () => {
    expect(railsText(null)).toBeNull()
    expect(railsText(viewGuardRails(RAIL_DEFAULTS))).toBe(
      'own schedules only, at most 10 schedules, 60 s between two runs, 60 things an hour',
    )
  })
})
