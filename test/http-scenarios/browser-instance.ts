import type { ServerResponse } from 'node:http'
import { json, startPeer, type Heard } from '../platform/outbound/peer.ts'
import { eventually } from '../scenarios/support.ts'

/** An action that a browser instance was asked for. */
export interface Acted {
  readonly kind: string
  readonly tab: string
  readonly agent: string
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Heard['headers']
}

/** What PinchTab calls an instance: acts in tabs, one request per action. Each waits until it is let go. */
export interface BrowserInstance {
  readonly url: string
  readonly port: number
  readonly acted: readonly Acted[]
  /** How many are being acted on at most. */
  readonly most: () => number
  /** Requests whose connection went away before they were answered. */
  readonly dropped: () => number
  /** Waits until an action of this kind was asked for. */
  readonly begun: (kind: string) => Promise<Acted>
  readonly release: (kind: string) => void
  /** Lets everything go, now and later. */
  readonly open: () => void
  readonly close: () => Promise<void>
}

/** Answers an action instead of the instance. */
export type Answer = (acted: Acted, response: ServerResponse) => void

const SUCCESS: Answer = (acted, response) => json(response, 200, { success: true, did: acted.kind })

export async function startInstance(answer: Answer = SUCCESS): Promise<BrowserInstance> {
  const acted: Acted[] = []
  const waiting: { readonly acted: Acted; readonly go: () => void }[] = []
  let [isOpen, busy, most] = [false, 0, 0]
  const peer = await startPeer(({ url, body, headers }, response) => {
    const one = actedOf(url, body, headers)
    acted.push(one)
    busy += 1
    most = Math.max(most, busy)
    response.on('close', () => {
      busy -= 1
    })
    const go = (): void => answer(one, response)
    if (isOpen) go()
    else waiting.push({ acted: one, go })
  })
  const letGo = (isWanted: (kind: string) => boolean): void => {
    for (const one of waiting.splice(0)) {
      if (isWanted(one.acted.kind)) one.go()
      else waiting.push(one)
    }
  }
  return {
    ...{ url: peer.url, port: peer.port, acted, most: () => most, dropped: peer.dropped, close: peer.close },
    begun: (kind) =>
      eventually(() => {
        const found = acted.find((one) => one.kind === kind)
        if (found === undefined)
          throw new Error(`${kind} was not asked for; ${acted.map((one) => one.kind).join(', ')}`)
        return found
      }),
    release: (kind) => letGo((one) => one === kind),
    open: () => {
      isOpen = true
      letGo(() => true)
    },
  }
}

function actedOf(url: string, body: string, headers: Heard['headers']): Acted {
  const [, tab = ''] = /^\/tabs\/([^/]+)\/action$/.exec(url) ?? []
  const read = JSON.parse(body) as Acted['body']
  return { kind: String(read['kind']), tab, agent: String(headers['x-agent-id']), body: read, headers }
}
