import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { foldAttempts, foldSubmissions, journalFile, openJournal, readJournals } from './journal.ts'
import type { HandlerLine, SubmissionLine } from './records.ts'

let directory: string
beforeEach(() => void (directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-journal-'))))
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const START: Extract<HandlerLine, { kind: 'start' }> = {
  kind: 'start',
  at: 10,
  mono: 1,
  attempt: 'att_1',
  number: 1,
  run: 'run_1',
  org: 'default',
  node: 'nod_1',
  agent: 'helper',
  session: 's',
  schedule: null,
  nominal: null,
  trigger: 'message',
}
const END: HandlerLine = { kind: 'end', at: 20, mono: 11, attempt: 'att_1', how: 'ok', reason: null }

describe('a journal', () => {
  it('is read by process, each line as it was written, before it is closed', () => {
    const a = openJournal<SubmissionLine>(journalFile(directory, 'a', 'submissions'))
    openJournal<HandlerLine>(journalFile(directory, 'a', 'handlers')).write(START)
    a.write({ kind: 'sent', id: '1', at: 1, to: 's' })
    a.write({ kind: 'failed', id: '1', at: 2, error: 'away\nwith a line end' })
    expect([...readJournals(directory, 'submissions')]).toEqual([
      [
        'a',
        [
          { kind: 'sent', id: '1', at: 1, to: 's' },
          { kind: 'failed', id: '1', at: 2, error: 'away\nwith a line end' },
        ],
      ],
    ])
    expect(readJournals(directory, 'handlers').get('a')).toEqual([START])
  })

  it('is read without the line that was being written when the process died', () => {
    const file = journalFile(directory, 'a', 'handlers')
    openJournal<HandlerLine>(file).write(START)
    appendFileSync(file, '{"kind":"en')
    expect(readJournals(directory, 'handlers').get('a')).toEqual([START])
  })

  it('is refused when a line in the middle is broken', () => {
    const file = journalFile(directory, 'a', 'handlers')
    appendFileSync(file, '{"kind":"en\n{}\n')
    expect(() => readJournals(directory, 'handlers')).toThrow(SyntaxError)
  })
})

describe('submissions', () => {
  const fold = (...lines: readonly SubmissionLine[]) => foldSubmissions(new Map([['a', lines]]))
  const sent = { kind: 'sent', id: '1', at: 1, to: 's' } as const

  it('are known by their last word', () => {
    expect(fold(sent)).toMatchObject([{ id: '1', to: 's', outcome: 'unknown', run: null, answeredAt: null }])
    expect(fold(sent, { kind: 'failed', id: '1', at: 5, error: 'away' })).toMatchObject([
      { outcome: 'unknown', run: null, code: 'away', answeredAt: 5 },
    ])
    expect(fold(sent, { kind: 'accepted', id: '1', at: 5, run: 'run_1', dropped: null })).toMatchObject([
      { outcome: 'accepted', run: 'run_1', sentAt: 1, answeredAt: 5 },
    ])
    expect(fold(sent, { kind: 'refused', id: '1', at: 5, code: 'QUEUE_FULL', run: 'run_1' })).toMatchObject([
      { outcome: 'refused', run: 'run_1', code: 'QUEUE_FULL' },
    ])
  })

  it('that were answered and never sent, or sent twice, make the journal useless', () => {
    expect(() => fold({ kind: 'failed', id: '1', at: 5, error: 'away' })).toThrow('never sent')
    expect(() => fold(sent, sent)).toThrow('sent twice')
  })
})

describe('attempts', () => {
  it('have the end that was written, or none', () => {
    const journals = new Map<string, readonly HandlerLine[]>([
      ['a', [START, END]],
      ['b', [{ ...START, attempt: 'att_2', number: 2 }]],
    ])
    expect(foldAttempts(journals)).toMatchObject([
      { id: 'att_1', process: 'a', startedAt: 10, endedAt: 20, how: 'ok' },
      { id: 'att_2', process: 'b', startedAt: 10, endedAt: null, how: null },
    ])
  })

  it('that began twice are there twice', () => {
    expect(foldAttempts(new Map([['a', [START, END, START]]]))).toHaveLength(2)
    expect(() => foldAttempts(new Map([['a', [END]]]))).toThrow('never began')
  })
})
