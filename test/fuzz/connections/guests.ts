import path from 'node:path'
import { startChild, type Child } from '../../chaos/child.ts'
import { compileProgram } from '../../support/compile-program.ts'
import { makeScratch } from '../../support/scratch.ts'
import { rmSync } from 'node:fs'
import type { GuestCommand, GuestReport } from './guest-process.ts'
import type { Place } from './wire.ts'

/** A process full of guests. */
export interface Guests {
  readonly open: (many: Omit<Extract<GuestCommand, { do: 'open' }>, 'do'>) => Promise<GuestReport>
  readonly report: () => Promise<GuestReport>
  /** All of them hang up. */
  readonly leave: () => Promise<GuestReport>
  readonly signal: Child<GuestReport>['signal']
  readonly end: () => Promise<void>
}

const LONGEST_MS = 60_000

/** Starts a process that has no guests yet and asks for the server's health all the time. */
export function startGuests({ port, key }: Place): Guests {
  const program = compileProgram('test/fuzz/connections/guest-process.ts')
  const directory = makeScratch('escapement-guests-')
  const child = startChild<GuestReport>([program.entry], path.join(directory, 'log'))
  child.tell({ do: 'begin', port, key } satisfies GuestCommand)
  const order = (command: GuestCommand, answer: GuestReport['said']): Promise<GuestReport> => {
    child.tell(command)
    return child.hear((line): line is GuestReport => line.said === answer, LONGEST_MS)
  }
  return {
    open: (many) => order({ do: 'open', ...many }, 'opened'),
    report: () => order({ do: 'report' }, 'report'),
    leave: () => order({ do: 'leave' }, 'left'),
    signal: child.signal,
    end: async () => {
      child.signal('SIGKILL')
      await child.ended
      program.remove()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
