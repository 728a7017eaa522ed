import { ErrLaneCleared, ErrMessageStale, ErrQueueDropped } from '../contract/refusals.ts'
import type { RunView } from '../contract/run.ts'
import { schemaReader } from '../contract/read-input.ts'
import { messageInput, sessionChange, type MessageInput } from '../contract/session.ts'
import type { Escapement } from '../escapement.ts'
import { isCommand, readSessionKey, sendMessage, stopByKey } from '../service/messages.ts'
import { changeSession, findSessions, getSession } from '../service/sessions-view.ts'
import { waitForRun } from './runs.ts'
import type { Running } from './running.ts'

const readMessage = schemaReader(messageInput)
const readChange = schemaReader(sessionChange)

/** Conversations: send, ask, stop. */
export function sessionsOf(running: () => Running): Escapement['sessions'] {
  const stop = async (key: string, how: 'stop' | 'stopall' | 'reset') =>
    stopByKey(running().app.ports, running().caller, { key, how })
  const send: Escapement['sessions']['send'] = async (key, message, options = {}) => {
    const { app, orgId, admitting, defaultAgent, refuseWhileDraining } = running()
    const input = readMessage(typeof message === 'string' ? { text: message } : message)
    if (!isCommand(input)) refuseWhileDraining()
    return sendMessage(
      app.ports,
      { orgId, defaultAgent, live: app.live, principal: null, trace: admitting().trace },
      { key, input, once: options.idempotencyKey },
    )
  }
  return {
    send,
    ask: async (key, message) => ask(running(), send, { key, message }),
    stop: (key) => stop(key, 'stop'),
    stopAll: (key) => stop(key, 'stopall'),
    reset: (key) => stop(key, 'reset'),
    get: async (key) => getSession(running().app.ports, running().orgId, key),
    list: async (filter) => findSessions(running().app.ports, running().orgId, filter),
    update: async (key, change) => changeSession(running().app.ports, { ...running().caller, key }, readChange(change)),
  }
}

async function ask(
  running: Running,
  send: Escapement['sessions']['send'],
  { key, message }: { readonly key: string; readonly message: MessageInput | string },
): Promise<RunView> {
  const leave = running.waiters.enter(running.orgId, readSessionKey(key))
  try {
    const receipt = await send(key, message)
    if (!('run_id' in receipt)) throw new Error('a command has no run to wait for; use send')
    const run = await waitForRun(running, receipt.run_id, null)
    if (run.status === 'dropped') throw new ErrQueueDropped(run.id)
    if (run.status === 'cancelled' && run.reason === 'stale') throw new ErrMessageStale(run.id)
    if (run.status === 'cancelled' && run.reason === 'lane_cleared') throw new ErrLaneCleared(run.id)
    return run
  } finally {
    leave()
  }
}
