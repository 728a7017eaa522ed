import { describe, expect, it } from 'vitest'
import { EVENT_KINDS } from '../../src/features/events/schema.ts'
import { SCHEDULE_NOTES } from '../../src/features/schedules/rules-schema.ts'
import { ADMISSION_GATES } from '../../src/domain/admission/admission.ts'
import { GATE_NAMES } from '../../src/domain/queue/gates.ts'
import { TARGET_KINDS as KINDS_OF_TARGETS } from '../../src/domain/delivery/target-kinds.ts'
import { EXECUTOR_KINDS, EXECUTORS } from '../../src/executors/kinds.ts'
import { OCCURRENCE_POLICIES } from '../../src/domain/schedule/occurrences.ts'
import {
  CONCURRENCY_POLICIES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
} from '../../src/domain/schedule/rules.ts'
import { touchedBy } from '../../ui/api/touched.ts'
import { POLICIES, policyName, policyText } from '../../ui/editor/form/policies.ts'
import { KINDS } from '../../ui/pages/agents/executor-fields.ts'
import { TARGET_KINDS } from '../../ui/pages/targets/target-fields.ts'
import { CATALOGUE, type TextKey } from '../../ui/texts/catalogue.ts'
import { createSay } from '../../ui/texts/fill.ts'
import { stepTexts } from '../../ui/texts/steps.ts'
import { relativeText, spanText } from '../../ui/time/span.ts'

const KEYS = Object.keys(CATALOGUE.en) as readonly TextKey[]
const holesIn = (text: string): readonly string[] =>
  [...new Set([...text.matchAll(/\{(\w+)/g)].map(([, name = '']) => name))].sort()

describe('the catalogue', () => {
  it('asks for the same to be filled in in every language, and is nowhere empty', () => {
    for (const key of KEYS) {
      const [en, zh] = [CATALOGUE.en[key], CATALOGUE.zh[key]]
      expect([key, en.trim() === '', zh.trim() === '']).toEqual([key, false, false])
      expect([key, ...holesIn(zh)]).toEqual([key, ...holesIn(en)])
    }
  })

  it('has one Chinese word for each term, and full-width punctuation', () => {
    // Schedule, token, agent, occurrence, secret: 定时任务, Token, 智能体, 触发, 凭据.
    const outdated = /词元|代理|唤醒|时刻|密文|个计划|该计划/u
    // A colon stays half-width inside formats such as `channel:recipient`.
    const halfWidth = /\p{Script=Han}[,;!?()]|[,;!?()]\p{Script=Han}/u
    const wrong = KEYS.filter((key) => outdated.test(CATALOGUE.zh[key]) || halfWidth.test(CATALOGUE.zh[key]))
    expect(wrong).toEqual([])
  })

  it('has words for every gate and policy that a run meets', () => {
    const names = [
      ...['request', ...ADMISSION_GATES, ...OCCURRENCE_POLICIES, ...GATE_NAMES],
      ...['turn', 'worker', 'probe', 'timing'],
    ]
    expect(Object.keys(stepTexts.en).sort()).toEqual([...new Set(names.map((name) => `step.${name}`))].sort())
  })

  it.each([
    ['misfire', MISFIRE_POLICIES],
    ['overlap', OVERLAP_ACTIONS],
    ['failure', FAILURE_ACTIONS],
    ['concurrency', CONCURRENCY_POLICIES],
  ] as const)('offers every value of %s that the core knows, with its name and what it does', (policy, values) => {
    expect([...POLICIES[policy].words].sort()).toEqual([...values].sort())
    const wanted: readonly string[] = values.flatMap((word) => [policyName(policy, word), policyText(policy, word)])
    expect(wanted.filter((key) => !(key in CATALOGUE.en))).toEqual([])
  })

  it('offers every kind of executor and of target there is, each with its name', () => {
    expect(KINDS.map(({ value }) => value).sort()).toEqual([...EXECUTOR_KINDS].sort())
    expect([...TARGET_KINDS].sort()).toEqual(Object.keys(KINDS_OF_TARGETS).sort())
    for (const { console } of EXECUTORS)
      for (const { en, zh } of [console.name, ...console.fields.flatMap(({ label, hint = label }) => [label, hint])])
        expect([en.trim() === '', zh.trim() === '', holesIn(en)]).toEqual([false, false, holesIn(zh)])
  })

  it('has a text for every note about a schedule', () => {
    const texts = SCHEDULE_NOTES.map((code) => createSay('zh')(`note.${code}`, { ends_at: '2026-01-15', seconds: 60 }))
    expect(texts.every((text) => /\p{Script=Han}/u.test(text))).toBe(true)
  })

  it('says numbers and plurals as people do', () => {
    const say = createSay('en')
    expect(say('schedules.count', { count: 1 })).toBe('1 schedule shown')
    expect(say('schedules.count', { count: 12_000 })).toBe('12,000 schedules shown')
    expect(createSay('zh')('schedules.count', { count: 1 })).toBe('显示 1 个定时任务')
  })
})

describe('times', () => {
  const say = createSay('en')

  it.each([
    [820, '820 ms'],
    [1_000, '1 s'],
    [1_500, '1.5 s'],
    [1_999, '1.9 s'],
    [119_000, '1 min 59 s'],
    [61_000, '1 min 1 s'],
    [12 * 60_000 + 5_000, '12 min'],
    [59_999, '59 s'],
    [3 * 60_000, '3 min'],
    [2 * 3_600_000 + 5 * 60_000, '2 h 5 min'],
    [26 * 3_600_000, '1 d 2 h'],
    [12 * 86_400_000 + 3_600_000, '12 d'],
  ])('%i ms are %s', (ms, text) => {
    expect(spanText(ms, say)).toBe(text)
  })

  it('count down to the last second', () => {
    expect([1_500, 1_000, 500, -1_000].map((ahead) => relativeText(ahead, 0, say))).toEqual([
      ...['in 2 s', 'in 1 s', 'now', '1 s ago'],
    ])
    expect([-1_900, -119_000, 65_500].map((ahead) => relativeText(ahead, 0, say))).toEqual([
      ...['1 s ago', '1 min ago', 'in 1 min'],
    ])
  })
})

describe('events', () => {
  it('make only what they are about old, and each kind but pieces of output something', () => {
    for (const kind of EVENT_KINDS)
      expect([kind, touchedBy({ kind, subject: 'x' }).length > 0]).toEqual([kind, kind !== 'run.output'])
    expect(touchedBy({ kind: 'run.changed', subject: 'run_1' })).toContainEqual(['runs', 'get', 'run_1'])
  })
})
