import type { ChatAgent } from '../../src/executors/chat/answer.ts'
import { createChatExecutor } from '../../src/executors/chat/execute.ts'
import type { SessionHistory } from '../../src/executors/host.ts'
import type { Executor } from '../../src/executors/executor.ts'
import type { Outbound } from '../../src/platform/outbound/send.ts'
import { parseChatOptions } from '../../src/executors/chat/options.ts'
import { json } from '../platform/outbound/peer.ts'
import { startModelServer, type Speaking } from './model-server.ts'
import { openOutbound } from './stages.ts'
import type { Behaviour, ExecutorStage } from './suite.ts'

/** Reads options as an agent brings them. */
export function chatAgent(given: Readonly<Record<string, unknown>>, contextWindow: number | null = null): ChatAgent {
  const read = parseChatOptions('executor', { kind: 'chat', model: 'm', ...given })
  if (!read.ok) throw new Error(JSON.stringify(read.flaws))
  return { options: read.value, contextWindow }
}

export const NO_PAST: SessionHistory = { sender: null, retryOf: null, exchanges: [] }

/** The executor for one agent. */
export const chatExecutor = (outbound: Outbound, agent: ChatAgent, past: SessionHistory = NO_PAST): Executor =>
  createChatExecutor({
    ...{ send: outbound.send, agentOf: () => Promise.resolve(agent), historyOf: () => Promise.resolve(past) },
  })

/** A model that streams its answer. */
export async function chatStage(): Promise<ExecutorStage> {
  let behaviour: Behaviour = { kind: 'hang' }
  const model = await startModelServer((speaking) => behave(behaviour, speaking))
  const outbound = openOutbound()
  // Whoever asks for JSON gets it, so that an answer may be more than a text.
  const agent = chatAgent({ base_url: model.baseUrl, body: { response_format: { type: 'json_object' } } }, 1_000)
  return {
    ...{ executor: chatExecutor(outbound, agent), payload: { text: 'hello' } },
    behave: (next) => {
      behaviour = next
    },
    begun: () => model.heard.length,
    dropped: model.dropped,
    close: async () => {
      await outbound.close()
      await model.close()
    },
  }
}

function behave(behaviour: Behaviour, { say, send, finish, response }: Speaking): void {
  switch (behaviour.kind) {
    case 'succeed': {
      const { output } = behaviour
      say(...Array.from(typeof output === 'string' ? output : JSON.stringify(output)))
      finish()
      break
    }
    case 'fail':
      json(response, behaviour.retryable ? 503 : 400, { error: { message: behaviour.message, type: 'x' } })
      break
    case 'use': {
      const { inputTokens, outputTokens, costMicros = 0 } = behaviour.usage
      say('null')
      finish({ usage: { prompt_tokens: inputTokens, completion_tokens: outputTokens, cost: costMicros / 1e6 } })
      break
    }
    case 'hang':
      say('begun')
      break
    case 'flood': {
      const more = (): void => {
        while (!response.destroyed && !response.writableNeedDrain) say('x'.repeat(1 << 16))
      }
      response.on('drain', more)
      more()
      break
    }
    case 'garble':
      send('data: {"half":\n\n')
      break
    case 'break':
      say('half')
      setTimeout(() => response.destroy(), 20)
  }
}
