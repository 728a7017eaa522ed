import { describe, expect, it } from 'vitest'
import { CONFIGURATION } from './configuration.ts'
import { lintProbes } from './lint-probes.ts'
import { RULE_PROBES } from './rule-probes.ts'

const rulesBrokenBy = await lintProbes(RULE_PROBES.map(([, probe]) => probe))

const isOn = (setting: unknown): boolean => setting !== 'off'

describe('the table of rules', () => {
  it('has a violation of every rule that is configured, and of no other', () => {
    const configured = [CONFIGURATION, ...CONFIGURATION.overrides].flatMap(({ rules }) =>
      Object.entries(rules).flatMap(([name, setting]) => (isOn(setting) ? [name] : [])),
    )
    expect(RULE_PROBES.map(([rule]) => rule).sort()).toEqual([...new Set(configured)].sort())
  })

  it.each(RULE_PROBES)('%s fires', (rule, probe) => {
    expect(rulesBrokenBy(probe)).toContain(rule)
  })
})
