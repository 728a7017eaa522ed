import type { ServerResponse } from 'node:http'
import { parseHttpOptions, type HttpOptions } from '../../src/executors/http/options.ts'
import type { Usage } from '../../src/executors/executor.ts'
import { createHttpExecutor } from '../../src/executors/http/execute.ts'
import { echo } from '../../src/executors/registry.ts'
import { inProcess } from '../../src/executors/in-process/execute.ts'
import { createTabAction } from '../../src/executors/tab-action/execute.ts'
import { createInstanceFinder } from '../../src/executors/tab-action/instances.ts'
import { createOutboundGuard } from '../../src/platform/outbound/resolve.ts'
import { createOutbound, type Outbound } from '../../src/platform/outbound/send.ts'
import { readResponseResult } from '../../src/features/runs/result-input.ts'
import { json, startPeer } from '../platform/outbound/peer.ts'
import type { Behaviour, ExecutorStage } from './suite.ts'

/** A way to the outside that lets agents live on this machine. */
export const openOutbound = (): Outbound =>
  createOutbound(createOutboundGuard({ settings: () => ({ allowHosts: [], allowLoopback: true }), closed: () => [] }))

/** Reads options as an agent brings them. */
export function httpOptions(given: Readonly<Record<string, unknown>>): HttpOptions {
  const read = parseHttpOptions('executor', { kind: 'http', ...given })
  if (!read.ok) throw new Error(JSON.stringify(read.flaws))
  return read.value
}

/** It says what it is told, and can do nothing else. */
export function echoStage(): Promise<ExecutorStage> {
  let output: unknown = null
  return Promise.resolve({
    ...{ executor: echo, begun: () => 0, dropped: () => 0, close: () => Promise.resolve() },
    get payload() {
      return { prompt: output }
    },
    behave: (next) => {
      output = next.kind === 'succeed' ? next.output : null
    },
  })
}

/** A function of this process. */
export function inProcessStage(): Promise<ExecutorStage> {
  let behaviour: Behaviour = { kind: 'hang' }
  let [begun, dropped] = [0, 0]
  const executor = inProcess(async (_, { signal, usage }) => {
    begun += 1
    switch (behaviour.kind) {
      case 'succeed':
        return behaviour.output
      case 'fail':
        throw Object.assign(new Error(behaviour.message), { retryable: behaviour.retryable })
      case 'use':
        usage(behaviour.usage)
        return null
      case 'hang':
        await new Promise((resolve) => {
          if (signal.aborted) resolve(null)
          signal.addEventListener('abort', resolve, { once: true })
        })
        dropped += 1
        throw new Error('stopped')
      case 'flood':
      case 'garble':
      case 'break':
        throw new Error('nothing of the kind happens here')
    }
  })
  return Promise.resolve({
    ...{ executor, payload: null, begun: () => begun, dropped: () => dropped, close: () => Promise.resolve() },
    behave: (next) => {
      behaviour = next
    },
  })
}

/** How a peer says that something has failed, in its own protocol. */
type Dialect = (behaviour: Extract<Behaviour, { kind: 'fail' | 'use' }>, response: ServerResponse) => void

const wireUsage = ({ inputTokens, outputTokens, contextWindow, costMicros = 0 }: Usage): unknown => ({
  ...{ input_tokens: inputTokens, output_tokens: outputTokens, context_window: contextWindow, cost: costMicros / 1e6 },
})

const inResults: Dialect = (behaviour, response) => {
  if (behaviour.kind === 'use') json(response, 200, { status: 'success', usage: wireUsage(behaviour.usage) })
  else json(response, 200, { status: 'failed', error_message: behaviour.message, retryable: behaviour.retryable })
}

const inStatuses: Dialect = (behaviour, response) => {
  if (behaviour.kind === 'fail') json(response, behaviour.retryable ? 503 : 400, { error: behaviour.message })
}

const BLOCK = Buffer.alloc(1 << 18, 'x')

function answer(behaviour: Behaviour, response: ServerResponse, dialect: Dialect): void {
  switch (behaviour.kind) {
    case 'succeed':
      if (typeof behaviour.output === 'string') response.end(behaviour.output)
      else if (behaviour.output === null) response.writeHead(204).end()
      else json(response, 200, behaviour.output)
      break
    case 'fail':
    case 'use':
      dialect(behaviour, response)
      break
    case 'hang':
      break
    case 'flood': {
      const more = (): void => {
        while (!response.destroyed && response.write(BLOCK));
      }
      response.on('drain', more)
      more()
      break
    }
    case 'garble':
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"half":')
      break
    case 'break':
      response.writeHead(200, { 'content-length': '1000' }).write('half')
      setTimeout(() => response.destroy(), 20)
  }
}

async function peerStage(
  dialect: Dialect,
  make: (url: string, outbound: Outbound) => Pick<ExecutorStage, 'executor' | 'payload'>,
): Promise<ExecutorStage> {
  let behaviour: Behaviour = { kind: 'hang' }
  const peer = await startPeer((_, response) => answer(behaviour, response, dialect))
  const outbound = openOutbound()
  return {
    ...make(peer.url, outbound),
    behave: (next) => {
      behaviour = next
    },
    begun: () => peer.heard.length,
    dropped: peer.dropped,
    close: async () => {
      await outbound.close()
      await peer.close()
    },
  }
}

/** An agent over HTTP. */
export const httpStage = (): Promise<ExecutorStage> =>
  peerStage(inResults, (url, { send }) => ({
    payload: { prompt: 'hello' },
    executor: createHttpExecutor({
      ...{ send, callbackUrl: () => null, readResult: readResponseResult },
      optionsOf: () => Promise.resolve(httpOptions({ url: `${url}/agent` })),
    }),
  }))

/** A browser tab in an instance. */
export const tabStage = (): Promise<ExecutorStage> =>
  peerStage(inStatuses, (url, { send }) => ({
    payload: { action: 'click', tabId: 'tab_1' },
    executor: createTabAction({
      ...{ send, find: createInstanceFinder(send, () => performance.now()) },
      lookup: () => ({ instances: { tab_1: url }, managerUrl: null, token: null }),
    }),
  }))
