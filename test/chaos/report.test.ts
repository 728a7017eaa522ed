import { describe, expect, it } from 'vitest'
import type { Audit } from './audit/audit.ts'
import { FAULT_KINDS, FAULT_NAMES } from './fault-kinds.ts'
import type { FaultRecord } from './faults.ts'
import { parseOptions } from './options.ts'
import { complaintsOf, describeRun, verdictOf, type Told } from './report.ts'

const GOOD: Audit = {
  findings: [],
  limitsReached: new Set(['org', 'agent']),
  limitsUnreached: new Set(['tasks']),
  reattempts: { lapsed: 12, failed: 34 },
  skipped: new Map([
    ['overlap', 5],
    ['misfire', 7],
  ]),
  endings: new Map([['success', 100]]),
  outcomes: { accepted: 12_000, refused: 3, unknown: 40 },
  acceptedPerSecond: 200,
  unheard: { kept: 30, never: 10 },
  fairness: { orgs: 180, runs: 4_000, p50Ms: 3, p99Ms: 200.4, longestMs: 1_500 },
  withTails: { submissions: 4, attempts: 2 },
  gap: { process: 'b1', from: 0, ms: 900 },
  silence: { process: 'c2', from: 0, ms: 2_100 },
  lateness: { run: 'run_1', ms: 40 },
}
const FAULTS: readonly FaultRecord[] = FAULT_KINDS.flatMap((kind) => [
  { kind, process: 'a0', from: 0, until: 1 },
  { kind, process: 'b1', from: 0, until: 1 },
])
const DEMANDS = {
  ...{ faults: 10, acceptedPerSecond: 200 },
  ...{ longestGapMs: 5_000, longestSilenceMs: 15_000, longestLatenessMs: 5_000, longestWaitMs: 2_500 },
}
const VERDICT =
  '0 lost, 0 doubled, 0 out of session order, 0 limits exceeded, 0 stuck, 0 early, 0 unfair, 0 unrecorded, 0 wrongly lost'

const told = (over: Partial<Audit> = {}, rest: Partial<Told> = {}): Told => ({
  ...{ seed: 5, nodes: 3, orgs: 200, loadMs: 60_000, kinds: FAULT_KINDS, faults: FAULTS, crashes: [], troubles: [] },
  audit: { ...GOOD, ...over },
  ...rest,
})

describe('the report', () => {
  it('ends with the verdict, in exactly these words', () => {
    expect(describeRun(told())).toEqual([
      'seed 5',
      '3 nodes, 200 orgs, 60 s of load, 200.0 submissions/s acknowledged (12043 sent: 12000 acknowledged, 3 refused, 40 unknown)',
      'unknown submissions: 30 kept once, 10 never',
      'lost with the tail of a failover: 4 answered submissions, 2 attempts',
      `42 faults: ${FAULT_KINDS.map((kind) => `${FAULT_NAMES[kind]} 2`).join(', ')}`,
      'runs: success 100',
      're-attempts: 12 after a lapsed lease, 34 after a failure',
      'skipped: 12 (misfire 7, overlap 5)',
      'limits reached: agent, org; never reached: tasks',
      'longest gap without a start on a healthy node while another was away: 900 ms (b1)',
      'longest silence of a node that nothing was done to: 2100 ms (c2)',
      'latest decision while a node had the wrong time: 40 ms',
      '4000 starts of 180 small orgs waited while others started in their lane: half of them at most 3 ms, 99 % 200 ms, all 1500 ms',
      `${VERDICT}, 0 crashes`,
    ])
    expect(complaintsOf(told(), DEMANDS)).toEqual([])
  })

  it('counts findings and shows the rows of the first few', () => {
    const findings = Array.from(
      { length: 7 },
      (_, n) => ({ wrong: 'doubled', what: `case ${n}`, rows: [{ n }] }) as const,
    )
    expect(verdictOf({ ...GOOD, findings })).toBe(VERDICT.replace('0 doubled', '7 doubled'))
    const lines = complaintsOf(told({ findings }), DEMANDS)
    expect(lines.slice(0, 2)).toEqual(['doubled: case 0', '    {"n":0}'])
    expect(lines.at(-1)).toBe('doubled: … and 2 more')
  })

  it.each([
    ['too few faults', told({}, { faults: FAULTS.slice(0, 9) }), 'only 9 faults, 10 were demanded'],
    [
      'a kind that is missing',
      told({}, { faults: FAULTS.filter(({ kind }) => kind !== 'cut') }),
      'no fault of kind pg_terminate_backend',
    ],
    ['too few submissions', told({ acceptedPerSecond: 150 }), 'only 150.0 submissions/s, 200 were demanded'],
    [
      'too long a gap',
      told({ gap: { process: 'b1', from: 0, ms: 5_001 } }),
      'the longest gap was 5001 ms (b1), 5000 ms are allowed',
    ],
    ['no node away at all', told({ gap: null }), 'the longest gap was never seen, 5000 ms are allowed'],
    [
      'a node that takes too long to come back',
      told({ silence: { process: 'b1', from: 0, ms: 15_001 } }),
      'the longest silence was 15001 ms (b1), 15000 ms are allowed',
    ],
    [
      'a clock that made others late',
      told({ lateness: { run: 'run_1', ms: 5_001 } }),
      'the latest decision was 5001 ms, 5000 ms are allowed',
    ],
    [
      'small orgs that wait for long',
      told({ fairness: { ...GOOD.fairness, p99Ms: 2_501 } }),
      '99 % of the starts of small orgs waited up to 2501 ms, 2500 ms are allowed',
    ],
    ['a crash', told({}, { crashes: ['node a0 ended by itself with 1'] }), 'node a0 ended by itself with 1'],
    ['anything else', told({}, { troubles: ['3 runs have not settled'] }), '3 runs have not settled'],
  ])('complains about %s', (_, run, complaint) => {
    expect(complaintsOf(run, DEMANDS)).toContain(complaint)
  })

  it('tells of and demands only the kinds that were asked for', () => {
    const run = told({ gap: null, lateness: null }, { kinds: ['kill'], faults: FAULTS.slice(0, 2) })
    expect(complaintsOf(run, { ...DEMANDS, faults: 1 })).toEqual([])
    expect(describeRun(run)).toContain('2 faults: kill -9 2')
  })

  it('counts crashes behind the verdict', () => {
    expect(describeRun(told({}, { crashes: ['node a0 ended by itself with 1'] })).at(-1)).toBe(`${VERDICT}, 1 crashes`)
  })
})

describe('the command line', () => {
  it('has defaults, and demands ten faults a minute', () => {
    expect(parseOptions([], () => 0.5)).toMatchObject({
      seed: 500_000,
      loadMs: 600_000,
      kinds: FAULT_KINDS,
      demands: { faults: 100, acceptedPerSecond: 100, longestGapMs: 5_000 },
    })
    expect(parseOptions(['--minutes', '0.5', '--seed', '7', '--least-rate', '50'])).toMatchObject({
      seed: 7,
      loadMs: 30_000,
      demands: { faults: 5, acceptedPerSecond: 50 },
    })
    expect(parseOptions(['--only', 'full,kill'])).toMatchObject({
      kinds: ['kill', 'full_server', 'full_pool'],
      demands: { faults: 3 },
    })
  })

  it.each([
    ['--minutes', '0'],
    ['--seed', 'x'],
    ['--rate', '-1'],
    ['--orgs', '201'],
    ['--only', 'kill,nothing'],
    ['--unknown', '1'],
  ])('refuses %s %s', (...args) => {
    expect(parseOptions(args)).toMatch(/usage: npm run chaos/)
  })
})
