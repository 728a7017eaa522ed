import { createHash } from 'node:crypto'
import type { ChannelsPort } from '../../src/domain/channel/services.ts'

const FINE = { ok: true, statusCode: 200 } as const

/** Services behind channels that believe everything and say nothing. */
export const NO_CHANNELS: ChannelsPort = {
  hear: (_, { body }, parse) => ({
    ...{ kind: 'body', body: parse(body) },
    id: createHash('sha256').update(body).digest('hex'),
  }),
  readUpdate: () => null,
  updateId: () => null,
  updates: () => Promise.resolve({ ok: true, updates: [] }),
  say: () => Promise.resolve(FINE),
  identify: () => Promise.resolve({ outcome: FINE, identity: null }),
  setWebhook: () => Promise.resolve(FINE),
  markSeen: () => Promise.resolve(),
  showTyping: () => Promise.resolve(),
  holdPlace: () => Promise.resolve(null),
  removeMessage: () => Promise.resolve(),
}
