import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ROOT } from '../../tooling/root.ts'
import { audit } from '../audit/audit.ts'
import type { HandledAttempt, Records, Submission } from '../records.ts'
import { LIMITS } from '../orgs.ts'
import { parseOptions } from './options.ts'
import { complaintsOf, crossings, longestPause, type Upgraded } from './report.ts'
import { chooseCommit, RELEASE_BEFORE, type KnownCommit, type Workshop } from './workshop.ts'

const { describeCommit, whyMissing } = (await import(
  pathToFileURL(path.join(ROOT, 'scripts/chaos/history.mjs')).href
)) as {
  readonly describeCommit: (checkout: string, name: string) => KnownCommit | undefined
  readonly whyMissing: (checkout: string, name: string) => string
}

describe('the history of a checkout', () => {
  let checkout: string
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', checkout, '-c', 'user.name=test', '-c', 'user.email=test@example.org', ...args], {
      encoding: 'utf8',
    }).trim()
  const commit = (name: string, sql: string): string => {
    writeFileSync(path.join(checkout, 'migrations', name), sql)
    git('add', '.')
    git('commit', '-q', '-m', `Write ${name}`)
    return git('rev-parse', 'HEAD')
  }

  beforeEach(() => {
    checkout = mkdtempSync(path.join(os.tmpdir(), 'escapement-history-'))
    mkdirSync(path.join(checkout, 'migrations'))
  })
  afterEach(() => rmSync(checkout, { recursive: true, force: true }))

  it('says of a commit whether its migrations are the first of today', () => {
    git('init', '-q')
    commit('0001_one.sql', 'select 1;')
    const draft = commit('0002_two.sql', 'select 2;')
    const second = commit('0002_two.sql', 'select 22;')
    commit('0003_three.sql', 'select 3;')
    expect(describeCommit(checkout, draft)).toMatchObject({ migrations: 2, isEarlier: false })
    expect(describeCommit(checkout, second)).toMatchObject({ subject: 'Write 0002_two.sql', isEarlier: true })
    expect(describeCommit(checkout, 'nowhere')).toBeUndefined()
    expect(whyMissing(checkout, 'nowhere')).toContain('does not have commit nowhere; run `git fetch --all`')
  })

  it('is missing in a copy without one and in a shallow clone, which is said with the way out', () => {
    expect(whyMissing(checkout, 'abc')).toContain('not a clone')
    git('init', '-q')
    commit('0001_one.sql', 'select 1;')
    const first = git('rev-parse', 'HEAD')
    commit('0002_two.sql', 'select 2;')
    const shallow = path.join(checkout, 'shallow')
    git('clone', '-q', '--depth', '1', pathToFileURL(checkout).href, shallow)
    expect(describeCommit(shallow, first)).toBeUndefined()
    expect(whyMissing(shallow, first)).toBe(
      `this clone is shallow and does not have commit ${first}; run \`git fetch --unshallow\``,
    )
  })
})

const workshop = (changes: Partial<Workshop> = {}): Workshop => ({
  whyMissing: (name) => `there is no commit ${name}`,
  migrations: 17,
  describe: (name) => ({ commit: name, subject: 'x', migrations: 16, isEarlier: true }),
  build: () => ({ entry: '', migrations: '' }),
  ...changes,
})

describe('what is upgraded from', () => {
  const chosen = (of: Workshop, from: string | null): unknown => {
    const known = chooseCommit(of, from)
    return typeof known === 'string' ? known : known.commit
  }

  it('is the release before, or the commit that is named', () => {
    expect(chosen(workshop(), null)).toBe(RELEASE_BEFORE)
    expect(chosen(workshop(), 'commit12')).toBe('commit12')
  })

  it('is nothing, with the reason, where there is no such commit or its migrations were written anew', () => {
    const rewritten = { commit: 'abc', subject: 'x', migrations: 16, isEarlier: false }
    expect(chosen(workshop({ describe: () => rewritten }), null)).toContain('the migrations of abc are not the first')
    expect(chosen(workshop({ describe: () => undefined }), 'abc')).toBe('there is no commit abc')
  })

  it('is asked for by options that are read strictly', () => {
    expect(parseOptions(['--seconds', '2', '--seed', '4'])).toMatchObject({ phaseMs: 2_000, seed: 4, from: null })
    expect(parseOptions(['--seconds', '0'])).toContain('usage: chaos upgrade')
    expect(parseOptions(['--minutes', '1'])).toContain('usage: chaos upgrade')
  })
})

const attempt = (process: string, startedAt: number, run = `run_${process}_${startedAt}`): HandledAttempt => ({
  ...{
    id: `att_${run}_${process}`,
    number: 1,
    run,
    org: 'default',
    agent: 'helper',
    session: null,
    schedule: null,
    trigger: 'message',
  },
  ...{ process, node: process, startedAt, endedAt: startedAt + 1, how: 'ok' },
})

function upgraded(changes: Partial<Upgraded> = {}): Upgraded {
  const load = { from: 0, until: 20_000 }
  const records = {
    ...{ submissions: [], handled: [], processes: [], runs: [], ranges: [], leases: [], leaseMs: 4_000, faults: [] },
    ...{ schedules: [], limits: LIMITS, orderedSessions: new Set<string>(), load },
  } as unknown as Records
  const handled = Array.from({ length: 200 }, (_, index) => index * 100).flatMap((at) => [
    attempt('old0', at, `run_${at}`),
    attempt('new1', at + 50, at === 0 ? 'run_0' : `run_n${at}`),
  ])
  return {
    ...{ from: 16, to: 17, audit: audit(records), handled, submissions: [], load, mixed: load },
    ...{ migratedInMs: 5, errors: new Map(), troubles: [] },
    ...changes,
  }
}

describe('an upgrade', () => {
  it('is good when both builds worked side by side and nobody had to wait', () => {
    expect(complaintsOf(upgraded())).toEqual([])
    expect(crossings(upgraded())).toEqual({ toNew: 1, toOld: 0 })
  })

  it('is not when one build did nothing, or nothing was started for long', () => {
    const alone = upgraded().handled.filter(({ process }) => process === 'new1')
    expect(complaintsOf(upgraded({ handled: alone }))).toContain(
      'the earlier build started only 0 attempts beside this one',
    )
    const late = upgraded({ load: { from: 0, until: 26_000 } })
    expect(longestPause(late)).toBe(6_050)
    expect(complaintsOf(late)).toContain('nothing was started for 6050 ms, 5000 are allowed')
  })

  it('is not when submissions failed, nodes logged errors or crashed', () => {
    const failed = { ...({} as Submission), outcome: 'unknown' as const, code: 'DatabaseError: no column' }
    expect(complaintsOf(upgraded({ submissions: [failed] }))).toEqual([
      '1 submissions failed with DatabaseError: no column',
    ])
    expect(complaintsOf(upgraded({ errors: new Map([['no column', 2]]), troubles: ['node old1 ended'] }))).toEqual([
      'node old1 ended',
      'nodes logged 2 times: no column',
    ])
  })
})
