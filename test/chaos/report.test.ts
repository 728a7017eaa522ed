import { describe, expect, it } from 'vitest'
import type { Audit } from './audit/audit.ts'
import { FAULT_KINDS, type FaultRecord } from './faults.ts'
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
  gap: { process: 'b1', from: 0, ms: 900 },
}
const FAULTS: readonly FaultRecord[] = FAULT_KINDS.flatMap((kind) => [
  { kind, process: 'a0', from: 0, until: 1 },
  { kind, process: 'b1', from: 0, until: 1 },
])
const DEMANDS = { faults: 10, acceptedPerSecond: 200, longestGapMs: 5_000 }

const told = (over: Partial<Audit> = {}, rest: Partial<Told> = {}): Told => ({
  ...{ seed: 5, nodes: 3, loadMs: 60_000, faults: FAULTS, troubles: [] },
  audit: { ...GOOD, ...over },
  ...rest,
})

describe('the report', () => {
  it('ends with the verdict, in exactly these words', () => {
    expect(describeRun(told())).toEqual([
      'seed 5',
      '3 nodes, 60 s of load, 200.0 submissions/s acknowledged (12043 sent: 12000 acknowledged, 3 refused, 40 unknown)',
      '10 faults: kill -9 2, SIGSTOP shorter than the lease 2, SIGSTOP longer than the lease 2, pg_terminate_backend 2, server restart 2',
      'runs: success 100',
      're-attempts: 12 after a lapsed lease, 34 after a failure',
      'skipped: 12 (misfire 7, overlap 5)',
      'limits reached: agent, org; never reached: tasks',
      'longest gap without a start on a healthy node while another was stopped: 900 ms (b1)',
      '0 lost, 0 doubled, 0 out of session order, 0 limits exceeded, 0 stuck',
    ])
    expect(complaintsOf(told(), DEMANDS)).toEqual([])
  })

  it('counts findings and shows the rows of the first few', () => {
    const findings = Array.from(
      { length: 7 },
      (_, n) => ({ wrong: 'doubled', what: `case ${n}`, rows: [{ n }] }) as const,
    )
    expect(verdictOf({ ...GOOD, findings })).toBe(
      '0 lost, 7 doubled, 0 out of session order, 0 limits exceeded, 0 stuck',
    )
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
    ['no stop at all', told({ gap: null }), 'the longest gap was no node was stopped, 5000 ms are allowed'],
    ['a crash', told({}, { troubles: ['node a0 ended by itself with 1'] }), 'node a0 ended by itself with 1'],
  ])('complains about %s', (_, run, complaint) => {
    expect(complaintsOf(run, DEMANDS)).toContain(complaint)
  })
})

describe('the command line', () => {
  it('has defaults, and demands ten faults a minute', () => {
    expect(parseOptions([], () => 0.5)).toMatchObject({
      seed: 500_000,
      loadMs: 180_000,
      demands: { faults: 30, acceptedPerSecond: 200, longestGapMs: 5_000 },
    })
    expect(parseOptions(['--minutes', '0.5', '--seed', '7', '--least-rate', '50'])).toMatchObject({
      seed: 7,
      loadMs: 30_000,
      demands: { faults: 5, acceptedPerSecond: 50 },
    })
  })

  it.each([
    ['--minutes', '0'],
    ['--seed', 'x'],
    ['--rate', '-1'],
    ['--unknown', '1'],
  ])('refuses %s %s', (...args) => {
    expect(parseOptions(args)).toMatch(/usage: chaos/)
  })
})
