import { describe, expect, it } from 'vitest'
import { parseOptions } from './options.ts'
import { describeHostility, type Hostility } from './report.ts'

const well: Hostility = {
  tally: { answers: { flood: { 200: 3, 429: 97 } }, slowestMs: 12.4 },
  journal: { sent: new Map([['mark-1', 1_000]]), refused: [], answerMs: [4] },
  agents: { begun: new Map([['mark-1', [1_020]]]), late: [3] },
  runs: { success: 2 },
  repeated: 0,
  crashes: [],
  maxP99Ms: 250,
}

const verdict = (found: Partial<Hostility>): string | undefined => describeHostility({ ...well, ...found }).lines.at(-1)

describe('an org beside a hostile one', () => {
  it('that noticed nothing is told with zeros', () => {
    const { lines, well: isWell } = describeHostility(well)
    expect(isWell).toBe(true)
    expect(lines).toEqual([
      'flood: 200 ×3, 429 ×97',
      'slowest attack: 12 ms',
      '1 messages of the other org began p50 20 ms, p99 20 ms, max 20 ms after they were sent',
      '1 occurrences of it began p50 3 ms, p99 3 ms, max 3 ms late',
      'its 1 requests took p50 4 ms, p99 4 ms, max 4 ms',
      '0 lost, 0 doubled, 0 failed, 0 repeated, 0 refused, 0 p99 exceeded, 0 crashes',
    ])
  })

  it.each<[string, Partial<Hostility>, string]>([
    ['whose message never began', { agents: { begun: new Map(), late: [3] } }, '1 lost'],
    ['whose message began twice', { agents: { begun: new Map([['mark-1', [1_001, 1_002]]]), late: [3] } }, '1 doubled'],
    ['whose run failed', { runs: { success: 1, failed: 1 } }, '1 failed'],
    ['whose run was tried again', { repeated: 1 }, '1 repeated'],
    ['that was refused', { journal: { ...well.journal, sent: new Map(), refused: ['503'] } }, '1 refused'],
    ['that was late', { agents: { ...well.agents, late: [400] } }, '1 p99 exceeded'],
    ['whose node ended', { crashes: ['SIGABRT'] }, '1 crashes'],
  ])('%s is told so', (_, found, word) => {
    expect(verdict(found)).toContain(word)
    expect(describeHostility({ ...well, ...found }).well).toBe(false)
  })

  it('that was never measured proves nothing', () => {
    const agents = { begun: well.agents.begun, late: [] }
    expect(describeHostility({ ...well, agents }).well).toBe(false)
  })
})

describe('the options of a hostile tenant', () => {
  it('have defaults, and are refused by name', () => {
    expect(parseOptions([], () => 0)).toMatchObject({ attackMs: 300_000, maxP99Ms: 250, attackers: 6, seed: 0 })
    expect(parseOptions(['--minutes', 'x'])).toContain('--minutes must be a number above 0, not "x"')
  })
})
