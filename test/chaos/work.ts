import { setTimeout as sleep } from 'node:timers/promises'
import type { Handler } from '../../src/executors/in-process/execute.ts'
import type { Random } from '../simulation/random.ts'
import type { Journal } from './journal.ts'
import type { HandlerLine } from './records.ts'
import { trueNow } from './wall-clock.ts'

/** What a submission asks of its handler, written into its own words. */
export interface Order {
  readonly id: string
  readonly workMs: number
  /** `once`: the first attempt fails and may be repeated. `for_good`: every attempt fails and none may. */
  readonly fails: 'never' | 'once' | 'for_good'
}

/** The words of an order. They survive being joined with others in one message. */
export const wordsOf = ({ id, workMs, fails }: Order): string => `#${id}# ${workMs} ${fails}`

const WORDS = /#([a-z0-9-]+)# (\d+) (never|once|for_good)/g

/** The orders in any payload that carries their words. */
export function ordersIn(payload: unknown): readonly Order[] {
  return [...JSON.stringify(payload ?? null).matchAll(WORDS)].map(([, id = '', work = '', fails = '']) => ({
    id,
    workMs: Number(work),
    fails: fails as Order['fails'],
  }))
}

/** What the runs of a schedule do: nobody sends them words, so chance decides. */
export interface Habit {
  readonly work: readonly [number, number]
  readonly failing: number
}

export interface HandlerOptions {
  readonly journal: Journal<HandlerLine>
  readonly random: Random
  readonly nodeId: () => string
  readonly habitOf: (payload: unknown) => Habit | undefined
  /** Called when the begin of an attempt has been written down. */
  readonly begun: () => void
}

/** A handler that writes down when it begins and ends, works as long as it was told to, and stops when it is asked to. */
export function createHandler({ journal, random, nodeId, habitOf, begun }: HandlerOptions): Handler {
  return async (attempt, { signal }) => {
    const { orgId, attemptId, attempt: number, runId, agentId, sessionKey, scheduleId, nominalTime, trigger } = attempt
    journal.write({
      ...{
        kind: 'start',
        at: trueNow(),
        mono: performance.now(),
        attempt: attemptId,
        number,
        run: runId,
        org: orgId,
        node: nodeId(),
      },
      ...{ agent: agentId, session: sessionKey, schedule: scheduleId, nominal: nominalTime, trigger },
    })
    begun()
    const end = (how: 'ok' | 'failed' | 'aborted', reason: string | null): void =>
      journal.write({ kind: 'end', at: trueNow(), mono: performance.now(), attempt: attemptId, how, reason })
    const orders = ordersIn(attempt.payload)
    const habit = orders.length > 0 ? undefined : habitOf(attempt.payload)
    const workMs = habit === undefined ? Math.max(0, ...orders.map((order) => order.workMs)) : random.int(...habit.work)
    try {
      await sleep(workMs, undefined, { signal })
    } catch (error) {
      end('aborted', String(signal.reason))
      throw error
    }
    const failure = failureOf(orders, number) ?? (random.chance(habit?.failing ?? 0) ? 500 : null)
    end(failure === null ? 'ok' : 'failed', failure === null ? null : String(failure))
    if (failure !== null) throw Object.assign(new Error('told to fail'), { status: failure })
    return { done: orders.length }
  }
}

function failureOf(orders: readonly Order[], number: number): number | null {
  if (orders.some(({ fails }) => fails === 'for_good')) return 400
  return number === 1 && orders.some(({ fails }) => fails === 'once') ? 500 : null
}
