import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import type { HandledAttempt, HandlerLine, Submission, SubmissionLine } from './records.ts'

// A journal is a file of JSON lines to which one process appends. Each line is one write before anything else happens:
// the kernel has it, so a kill -9 in the next instruction loses nothing.

export interface Journal<Line> {
  readonly write: (line: Line) => void
  readonly close: () => void
}

/** Opens a journal for appending. */
export function openJournal<Line>(file: string): Journal<Line> {
  const descriptor = openSync(file, 'a', 0o600)
  return {
    write: (line) => void writeSync(descriptor, `${JSON.stringify(line)}\n`),
    close: () => closeSync(descriptor),
  }
}

/** The journals of a process, and what a line of each is. */
export interface JournalLines {
  readonly submissions: SubmissionLine
  readonly handlers: HandlerLine
}

/** Where a process keeps one of its journals. */
export const journalFile = (directory: string, process: string, name: keyof JournalLines): string =>
  path.join(directory, `${process}.${name}.jsonl`)

/** What all processes wrote into one of their journals, by process. */
export function readJournals<Name extends keyof JournalLines>(
  directory: string,
  name: Name,
): ReadonlyMap<string, readonly JournalLines[Name][]> {
  const suffix = `.${name}.jsonl`
  return new Map(
    readdirSync(directory)
      .filter((file) => file.endsWith(suffix))
      .sort()
      .map((file) => [file.slice(0, -suffix.length), readLines(path.join(directory, file)) as JournalLines[Name][]]),
  )
}

/** What stands after the last line end was being written when the process died. */
const readLines = (file: string): readonly unknown[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown)

/** Each submission with what became of it. An answer that was never written down counts as none. */
export function foldSubmissions(journals: ReadonlyMap<string, readonly SubmissionLine[]>): readonly Submission[] {
  const found = new Map<string, Submission>()
  for (const line of [...journals.values()].flat()) {
    if (line.kind === 'sent') {
      if (found.has(line.id)) throw new Error(`submission ${line.id} was sent twice: the journal is wrong`)
      found.set(line.id, { ...UNANSWERED, id: line.id, to: line.to, sentAt: line.at })
      continue
    }
    const sent = found.get(line.id)
    if (sent === undefined) throw new Error(`submission ${line.id} was answered and never sent: the journal is wrong`)
    found.set(line.id, { ...sent, ...answerOf(line), answeredAt: line.at })
  }
  return [...found.values()]
}

const UNANSWERED = { answeredAt: null, outcome: 'unknown', run: null, code: null } as const

function answerOf(line: Exclude<SubmissionLine, { kind: 'sent' }>): Pick<Submission, 'outcome' | 'run' | 'code'> {
  switch (line.kind) {
    case 'accepted':
      return { outcome: 'accepted', run: line.run, code: null }
    case 'refused':
      return { outcome: 'refused', run: line.run, code: line.code }
    case 'failed':
      return { outcome: 'unknown', run: null, code: line.error }
  }
}

/** Each attempt with its end. An attempt that began twice is there twice: the audit must see it. */
export function foldAttempts(journals: ReadonlyMap<string, readonly HandlerLine[]>): readonly HandledAttempt[] {
  return [...journals].flatMap(([process, lines]) => foldProcess(process, lines))
}

function foldProcess(process: string, lines: readonly HandlerLine[]): readonly HandledAttempt[] {
  const found: HandledAttempt[] = []
  const open = new Map<string, number>()
  for (const line of lines) {
    if (line.kind === 'start') {
      const { attempt: id, number, run, org, node, agent, session, schedule, trigger, at } = line
      open.set(id, found.length)
      const attempt = { id, number, run, org, node, agent, session, schedule, trigger, process, startedAt: at }
      found.push({ ...attempt, endedAt: null, how: null })
      continue
    }
    const index = open.get(line.attempt)
    const started = index === undefined ? undefined : found[index]
    if (index === undefined || started === undefined)
      throw new Error(`attempt ${line.attempt} ended and never began: the journal is wrong`)
    found[index] = { ...started, endedAt: line.at, how: line.how }
    open.delete(line.attempt)
  }
  return found
}
