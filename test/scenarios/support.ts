import { expect } from 'vitest'
import { type Refusal, type RefusalCode, REFUSAL_CODES } from '../../src/api/refusals.ts'

import type { RunView } from '../../src/features/runs/schema.ts'
import type { MessageInput, MessageReceipt, StopAnswer } from '../../src/features/sessions/schema.ts'
import type { Escapement } from '../../src/library/escapement.ts'

/** What of the library these need; over HTTP there is the same. */
export type Surface = Pick<Escapement, 'schedules' | 'sessions' | 'runs'>

/** Long enough for a busy machine; nothing that works waits so long. */
const PATIENCE_MS = 60_000

/** Looking is work for a node and its database, and most of what is waited for takes seconds. */
const LONGEST_PAUSE_MS = 80

/** Looks again and again, less often with time, until the looking does not throw, and answers with what was seen. */
export async function eventually<T>(look: () => T | Promise<T>, timeoutMs = PATIENCE_MS): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await look()
    } catch (error) {
      if (performance.now() >= deadline) throw error
    }
    await nothingFor(pauseMs)
  }
}

/** For showing that something does not happen, and for nothing else. */
export const nothingFor = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })

/** Until the clock shows this; for work that is due at a time. */
export const until = (at: number): Promise<void> => nothingFor(Math.max(0, at - Date.now()))

/** A session of an agent. */
export const chat = (peer: string, agent = 'worker'): string => `agent:${agent}:test:direct:${peer}`

/** The answer to a message that was taken for one. */
export function receiptOf(answer: MessageReceipt | StopAnswer): MessageReceipt {
  if (!('run_id' in answer)) throw new Error(`taken for a command: ${JSON.stringify(answer)}`)
  return answer
}

/** Sends what is no command. */
export const send = async (node: Surface, key: string, message: MessageInput | string): Promise<MessageReceipt> =>
  receiptOf(await node.sessions.send(key, message))

/** Sends one after the other, and answers with the ids of the runs. */
export async function sendEach(
  node: Surface,
  key: string,
  messages: readonly (MessageInput | string)[],
): Promise<readonly string[]> {
  const ids: string[] = []
  for (const message of messages) ids.push((await send(node, key, message)).run_id)
  return ids
}

/** The run when it has ended. */
export const ended = (node: Surface, id: string, timeoutMs = PATIENCE_MS): Promise<RunView> =>
  node.runs.wait(id, { timeoutMs })

/** How these runs ended. */
export async function endings(node: Surface, ids: readonly string[]): Promise<readonly string[]> {
  const runs = await Promise.all(ids.map((id) => ended(node, id)))
  return runs.map((run) => run.status)
}

export const statusOf = async (node: Surface, id: string): Promise<string> => (await node.runs.get(id)).status

/** Waits until the run is in this state. */
export const inState = (node: Surface, id: string, status: RunView['status']): Promise<RunView> =>
  eventually(async () => {
    const run = await node.runs.get(id)
    expect(run.status).toBe(status)
    return run
  })

/** The refusal that a call ends with, which must have this code and the status of that code. */
export async function refused(call: Promise<unknown>, code: RefusalCode): Promise<Refusal> {
  const error = await call.then(
    (value) => new Error(`not refused: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  )
  expect(error).toMatchObject({ code, status: REFUSAL_CODES[code] })
  return error as Refusal
}

/** All runs of a schedule, skipped ones too, in the order of their moments. */
export async function runsOf(node: Surface, scheduleId: string): Promise<readonly RunView[]> {
  const { items } = await node.schedules.runs(scheduleId, { limit: 200 })
  return items.toSorted((a, b) => timeOf(a.nominal_time ?? a.created_at) - timeOf(b.nominal_time ?? b.created_at))
}

/** The runs of a schedule when there are at least so many. */
export const runsWhen = (
  node: Surface,
  scheduleId: string,
  isEnough: (runs: readonly RunView[]) => boolean,
): Promise<readonly RunView[]> =>
  eventually(async () => {
    const runs = await runsOf(node, scheduleId)
    if (!isEnough(runs)) throw new Error(`only ${JSON.stringify(runs.map(inShort))}`)
    return runs
  })

/** Like `runsWhen`, of those that were seen in time: a busy machine skips some it has come too late for, and says so. */
export async function decidedWhen(
  node: Surface,
  scheduleId: string,
  isEnough: (runs: readonly RunView[]) => boolean,
): Promise<readonly RunView[]> {
  const decided = (runs: readonly RunView[]): readonly RunView[] => runs.filter((run) => run.reason !== 'misfire')
  return decided(await runsWhen(node, scheduleId, (found) => isEnough(decided(found))))
}

/** The state and, where it says more, the reason. */
export const inShort = (run: Pick<RunView, 'status' | 'reason'>): string =>
  run.status === 'skipped' ? `skipped/${run.reason ?? ''}` : run.status

export const timeOf = (time: string | null): number => (time === null ? Number.NaN : Date.parse(time))

/** A time some ms from now, as an outsider writes it. */
export const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString()
