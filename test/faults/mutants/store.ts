import { instant, later } from '../../../src/domain/instant.ts'
import { DatabaseError, isCommitUnknown } from '../../../src/platform/db/database-error.ts'
import type { Database, Row } from '../../../src/platform/db/database.ts'
import { forgetting, misreading, withStatements, type Mutant } from './mutant.ts'

const FOR_EVER = later(instant(0), 1e14)

type Event = readonly [kind: string, subject: string, data: Row]

const withoutEvents = (isForgotten: (event: Event) => boolean) =>
  misreading('select no, at, node_id, events from turn', (row) => ({
    ...row,
    events: (row['events'] as readonly Event[]).filter((event) => !isForgotten(event)),
  }))

/** What the answer to a transaction of unknown fate is taken for. */
const unknownTakenFor =
  (fate: 'kept' | 'lost') =>
  (database: Database): Database => ({
    ...database,
    transaction: async (work, options) => {
      const results: Awaited<ReturnType<typeof work>>[] = []
      try {
        return await database.transaction(async (tx) => {
          const result = await work(tx)
          results.push(result)
          return result
        }, options)
      } catch (error) {
        const [result] = results
        if (!isCommitUnknown(error) || results.length === 0) throw error
        if (fate === 'lost') throw new DatabaseError('connection_lost')
        return result as Awaited<ReturnType<typeof work>>
      }
    },
  })

/** Mistakes in what is written and read. */
export const STORE_MUTANTS: readonly Mutant[] = [
  {
    name: 'the ledger of occurrences is not kept',
    breaks: ['one_run_per_occurrence'],
    mutate: forgetting('insert into occurrence'),
  },
  {
    name: 'a commit of unknown fate is taken for lost',
    breaks: ['nothing_doubled', 'attempts_are_real'],
    mutate: unknownTakenFor('lost'),
  },
  {
    name: 'a commit of unknown fate is taken for kept',
    breaks: ['nothing_lost', 'attempts_are_real', 'heard_once_in_order'],
    seed: 1,
    mutate: unknownTakenFor('kept'),
  },
  {
    name: 'catching up forgets what happened to sessions',
    breaks: ['memory_is_true'],
    seed: 1,
    mutate: withoutEvents(([kind]) => kind.startsWith('session.')),
  },
  {
    name: 'catching up forgets runs that changed without changing their state',
    breaks: ['memory_is_true'],
    seed: 4,
    mutate: withoutEvents(([kind]) => kind === 'run.touched' || kind === 'message.merged'),
  },
  {
    name: 'recovery takes no notice of lost nodes',
    breaks: ['leases_are_kept'],
    seed: 6,
    mutate: misreading('select id, started_at', (row) => ({ ...row, lost: false, leaseUntil: FOR_EVER })),
  },
  {
    name: 'a node claims although its lease has lapsed',
    breaks: ['leases_are_kept'],
    seed: 2,
    mutate: misreading('select clock_timestamp() as now', (row) => ({ ...row, lease_until: FOR_EVER })),
  },
  {
    name: 'merged messages are not written',
    breaks: ['nothing_lost', 'memory_is_true'],
    mutate: forgetting('update run r set payload'),
  },
  {
    name: 'an attempt that will be repeated is not kept',
    breaks: ['attempts_are_real'],
    mutate: forgetting('insert into attempt'),
  },
  {
    name: 'what has ended stays among what is pending',
    breaks: ['memory_is_true', 'nothing_stuck'],
    mutate: (database) =>
      withStatements(
        database,
        (real) => (text, params) =>
          real(text.replace('delete from pending where', 'delete from pending where false and'), params),
      ),
  },
  {
    name: 'what was done is not put on record',
    breaks: ['audit_is_whole'],
    mutate: forgetting('with added as ( insert into audit'),
  },
  {
    name: 'the chain of what was done begins anew with each record',
    breaks: ['audit_is_whole'],
    mutate: misreading('select no, hash from audit_head', (row) => ({ ...row, hash: new Uint8Array(32) })),
  },
  {
    name: 'what was spent replaces what was spent before',
    breaks: ['spent_once'],
    seed: 13,
    mutate: (database) =>
      withStatements(
        database,
        (real) => (text, params) =>
          real(text.replace('set used = usage.used + excluded.used', 'set used = excluded.used'), params),
      ),
  },
  {
    name: 'what was spent is not written',
    breaks: ['spent_once'],
    seed: 5,
    mutate: forgetting('insert into usage'),
  },
  {
    name: 'changes of sessions are not written',
    breaks: ['memory_is_true', 'limits'],
    mutate: forgetting('update session'),
  },
  {
    name: 'loading an org overlooks what is in flight',
    breaks: ['memory_is_true'],
    mutate: misreading('select r.id, r.job_run_id', (row) => (row['state'] === 'running' ? null : row)),
  },
]
