import { createHash } from 'node:crypto'
import type { ChannelsPort } from '../../src/domain/channel/services.ts'

const FINE = { ok: true, statusCode: 200 } as const

/** Services behind channels that believe everything and say nothing. */
export const NO_CHANNELS: ChannelsPort = {
  receive: (_, { body }, parse) => ({
    ...{ kind: 'body', body: parse(body) },
    id: createHash('sha256').update(body).digest('hex'),
  }),
  readUpdate: () => null,
  updateId: () => null,
  pollUpdates: () => Promise.resolve({ ok: true, updates: [] }),
  send: () => Promise.resolve(FINE),
  identify: () => Promise.resolve({ outcome: FINE, identity: null }),
  setWebhook: () => Promise.resolve(FINE),
  markSeen: () => Promise.resolve(),
  showTyping: () => Promise.resolve(),
  showPlaceholder: () => Promise.resolve(null),
  removeMessage: () => Promise.resolve(),
}
