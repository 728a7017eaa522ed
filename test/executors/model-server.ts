import type { ServerResponse } from 'node:http'
import { json, startPeer, type Heard, type Peer } from '../platform/outbound/peer.ts'

/** What a model is asked, as far as tests look at it. */
export interface Question {
  readonly model: string
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly stream?: boolean
  readonly stream_options?: unknown
  readonly [field: string]: unknown
}

/** One answer of a model that streams: words go out when they are said. */
export interface Speaking {
  readonly question: Question
  readonly heard: Heard
  readonly response: ServerResponse
  /** Begins the stream if need be, and says something. */
  readonly say: (...words: readonly string[]) => void
  /** Sends bytes of the stream as they are. */
  readonly send: (bytes: string | Uint8Array) => void
  /** The last word: why it stopped, what was counted, and that this is all. */
  readonly finish: (more?: { readonly usage?: object | null; readonly reason?: string }) => void
}

/** A server on this machine that speaks the protocol, and what it was asked. */
export interface ModelServer extends Peer {
  /** What an agent gives as `base_url`. */
  readonly baseUrl: string
  readonly questions: () => readonly Question[]
}

const piece = (choice: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }], ...more })}\n\n`

/** Starts a server whose model answers as it is told. */
export async function startModelServer(answer: (speaking: Speaking, n: number) => unknown): Promise<ModelServer> {
  const questions: Question[] = []
  const peer = await startPeer((heard, response, n) => {
    if (heard.method !== 'POST' || heard.url !== '/v1/chat/completions') {
      json(response, 404, { error: { message: `no route ${heard.method} ${heard.url}` } })
      return undefined
    }
    const question = JSON.parse(heard.body) as Question
    questions.push(question)
    return answer(speakingOf({ question, heard, response }), n)
  })
  return { ...peer, baseUrl: `${peer.url}/v1`, questions: () => questions }
}

function speakingOf(asked: Pick<Speaking, 'question' | 'heard' | 'response'>): Speaking {
  const { response } = asked
  const send: Speaking['send'] = (bytes) => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    response.write(bytes)
  }
  return {
    ...asked,
    send,
    say: (...words) => {
      for (const word of words) send(piece({ delta: { content: word }, finish_reason: null }))
    },
    finish: ({ usage = null, reason = 'stop' } = {}) => {
      send(piece({ delta: {}, finish_reason: reason }))
      if (usage !== null) send(`data: ${JSON.stringify({ choices: [], usage })}\n\n`)
      response.end('data: [DONE]\n\n')
    },
  }
}
