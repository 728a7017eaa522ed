import type { Dispatch } from '../../src/executors/dispatch.ts'
import { json, startPeer, type Answering, type Peer } from '../platform/outbound/peer.ts'

/** An agent behind HTTP that answers as a check tells it. */
export interface AgentStub {
  readonly id: string
  /** The key of a session with the agent. */
  readonly session: (peer?: string) => string
  /** The dispatches it has received, in order of arrival. */
  readonly dispatches: readonly Dispatch[]
  /** The messages of the dispatches, in order of arrival. */
  readonly messages: () => readonly (string | null)[]
  /** Requests whose connection was closed before they were answered. */
  readonly dropped: () => number
  /** Requests that wait for an answer now, and the most there have been at once. */
  readonly busy: () => number
  readonly most: () => number
  /** Answers with this result from now on; a function sees the dispatch and its number, counted from 1. */
  readonly reply: (result: object | ((dispatch: Dispatch, n: number) => unknown)) => void
  /** Answers with whatever status and body the function sends from now on. */
  readonly respond: (answer: Answering) => void
  /** Keeps answers back until they are released. */
  readonly hold: () => void
  /** Releases the answers to these messages, or all answers, now and later. */
  readonly release: (...messages: readonly string[]) => void
  readonly url: string
  readonly close: () => Promise<void>
}

const dispatchIn = (body: string): Dispatch => JSON.parse(body) as Dispatch

/** Starts the HTTP server of an agent. It answers `done` at once unless told otherwise. */
export async function startAgentStub(id: string): Promise<AgentStub> {
  const waiting: { readonly message: string | null; readonly release: () => void }[] = []
  const passes = new Set<string>()
  let isOpen = true
  let busy = 0
  let most = 0
  let answer: Answering = (_, response) => json(response, 200, { status: 'success', output: 'done' })
  const peer: Peer = await startPeer(async (request, response, n) => {
    const { message } = dispatchIn(request.body)
    busy += 1
    most = Math.max(most, busy)
    response.on('close', () => (busy -= 1))
    if (!isOpen && !passes.has(message ?? '')) await new Promise<void>((release) => waiting.push({ message, release }))
    if (!response.destroyed) await answer(request, response, n)
  })
  const dispatches = (): readonly Dispatch[] => peer.heard.map(({ body }) => dispatchIn(body))
  return {
    id,
    url: `${peer.url}/work`,
    session: (name = 'ann') => `agent:${id}:test:direct:${name}`,
    get dispatches() {
      return dispatches()
    },
    messages: () => dispatches().map(({ message }) => message),
    dropped: peer.dropped,
    busy: () => busy,
    most: () => most,
    reply: (result) => {
      answer = async ({ body }, response, n) => {
        const value: unknown = typeof result === 'function' ? await result(dispatchIn(body), n) : result
        json(response, 200, value)
      }
    },
    respond: (other) => {
      answer = other
    },
    hold: () => {
      isOpen = false
    },
    release: (...messages) => {
      for (const message of messages) passes.add(message)
      isOpen ||= messages.length === 0
      for (const { message, release } of waiting) if (isOpen || passes.has(message ?? '')) release()
    },
    close: peer.close,
  }
}
