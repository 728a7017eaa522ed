import { later, type Instant } from '../../../src/domain/instant.ts'
import type { Performance } from '../journal.ts'
import { holdsLease } from '../server.ts'
import type { World } from '../shapes.ts'
import type { StoredAttempt, StoredRun, Tables } from './tables.ts'
import { demand } from './invariants.ts'

/** What is on record as executed was executed, by whom it says, while it held its lease; and nothing else was. */
export function checkAttempts(world: World, tables: Tables): void {
  const { journal, serverFault } = world
  demand(journal.mishaps.length === 0, 'attempts_are_real', () => journal.mishaps.join('; '))
  const known = new Set<string>()
  const leases = new Map(tables.nodes.map((row) => [row['id'] as string, row['lease_until'] as Instant]))
  for (const run of tables.runs) {
    for (const attempt of run.attempts) {
      known.add(attempt.id)
      checkPerformed(world, run, attempt)
      if (serverFault !== 'clock_step') checkLease(leases, run, attempt)
      checkMessage(run, attempt)
      checkLost(world, run, attempt)
      demand(
        serverFault === 'clock_step' || run.deadline === null || attempt.number > 1 || attempt.startedAt < run.deadline,
        'expired_never_starts',
        () => `${attempt.id} of ${run.id} started after its deadline`,
      )
    }
    checkOutput(run)
    checkNumbers(run, serverFault !== 'clock_step')
  }
  for (const performance of journal.performances.values()) {
    const { attemptId, runId, node } = performance
    demand(
      known.has(attemptId) || mayBeLost(world, performance),
      'attempts_are_real',
      () => `${node} performed ${attemptId} of ${runId}: not on record`,
    )
  }
}

/** How late a node may hear that its claim was kept. */
const MAX_ANSWER_MS = 21_000

/** It was claimed in a transaction that the server has lost. */
const mayBeLost = ({ journal }: World, { startedAt }: Performance): boolean =>
  journal.tails.some(({ from, to }) => startedAt >= from && startedAt <= later(to, MAX_ANSWER_MS))

/** Nobody takes over what a node works on that has renewed its lease in time. */
function checkLost(world: World, run: StoredRun, { id, nodeId, errorCode, finishedAt }: StoredAttempt): void {
  const { journal, serverFault } = world
  if (errorCode !== 'node_lost' || nodeId === null || !journal.performances.has(id as never)) return
  // Leases are timed by the clock that really passes, attempts by the server's, which has lost some of them.
  if (serverFault === 'clock_step' || serverFault === 'tail_lost' || journal.left.has(nodeId)) return
  demand(
    !holdsLease(world, nodeId, finishedAt),
    'alive_is_not_lost',
    () => `${id} of ${run.id} was taken from ${nodeId}, which held its lease`,
  )
}

/**
 * Only a process that ended, that was taken for lost, or that heard of its claim so late that it was over, can have
 * claimed what it never began.
 */
function checkPerformed({ journal, nodes, serverFault }: World, run: StoredRun, attempt: StoredAttempt): void {
  if (journal.performances.has(attempt.id as never) || attempt.errorCode === 'node_lost') return
  const holder = nodes.find(({ name }) => attempt.nodeId?.startsWith(`${name}_`) === true)
  demand(
    holder === undefined ||
      holder.state === 'gone' ||
      (serverFault === 'clock_step' && journal.lateAnswers.size > 0) ||
      journal.lateAnswers.has(`${holder.name} ${attempt.startedAt}`),
    'attempts_are_real',
    () => `${attempt.id} of ${run.id} was claimed by ${attempt.nodeId ?? 'nobody'} and never performed`,
  )
}

function checkLease(leases: ReadonlyMap<string, Instant>, run: StoredRun, attempt: StoredAttempt): void {
  const lease = attempt.nodeId === null ? undefined : leases.get(attempt.nodeId)
  demand(
    lease === undefined || attempt.startedAt < lease,
    'leases_are_kept',
    () => `${attempt.id} of ${run.id} was claimed by ${attempt.nodeId ?? ''} after its lease had lapsed`,
  )
}

/** Every answer of an executor names the attempt that gave it. */
function checkMessage(run: StoredRun, { id, errorMessage }: StoredAttempt): void {
  const by = /by (att_\w+)/.exec(errorMessage ?? '')?.[1]
  demand(
    by === undefined || by === id,
    'reports_are_fenced',
    () => `${id} of ${run.id} failed in the words of ${by ?? ''}`,
  )
}

function checkOutput({ id, state, attemptId, output }: StoredRun): void {
  if (state === 'success')
    demand(output?.['by'] === attemptId, 'reports_are_fenced', () => `${id} succeeded by ${String(output?.['by'])}`)
  else if (output !== null && attemptId !== null)
    demand(output['by'] === attemptId, 'reports_are_fenced', () => `${id} has the output of ${String(output['by'])}`)
}

function checkNumbers({ id, attempts }: StoredRun, isTimed: boolean): void {
  attempts.forEach((attempt, index) => {
    const before = attempts[index - 1]
    if (before === undefined) return
    demand(
      attempt.number === before.number + 1,
      'attempts_are_real',
      () => `attempts of ${id} are not numbered in order`,
    )
    demand(
      !isTimed || attempt.startedAt >= before.finishedAt,
      'attempts_are_real',
      () => `${attempt.id} of ${id} began before ${before.id} had ended`,
    )
  })
}

/** Every living node has heard every turn since it came, once and in order; its lanes are free when nothing runs. */
export function checkNodes({ nodes, journal, orgs, serverFault }: World, { turns }: Tables): void {
  for (const node of nodes) {
    if (node.state === 'gone') continue
    for (const { id } of serverFault === 'tail_lost' ? [] : orgs) {
      const heard = journal.heard.get(`${node.name} ${id}`) ?? []
      const newest = turns.filter((row) => row['org_id'] === id).at(-1)?.['no']
      const isInOrder = heard.every((no, index) => index === 0 || no === (heard[index - 1] ?? 0) + 1)
      demand(isInOrder, 'heard_once_in_order', () => `${node.name} heard ${heard.join()} of ${id}`)
      demand(
        heard.length === 0 || heard.at(-1) === newest,
        'heard_once_in_order',
        () => `${node.name} heard up to ${heard.at(-1) ?? 0} of ${id}`,
      )
    }
    for (const [lane, size] of node.parts.lanes.sizes()) {
      demand(
        node.parts.lanes.heldIn(lane) === 0,
        'no_slot_leak',
        () =>
          `${node.name} holds a slot of ${lane} for ${node.parts.executions
            .all()
            .map(({ attemptId }) => attemptId)
            .join()}`,
      )
      for (const { id } of orgs)
        demand(
          node.parts.lanes.hasRoom(lane, id),
          'no_slot_leak',
          () => `${lane} of ${node.name} has no room for ${id}, size ${size}`,
        )
    }
  }
}
