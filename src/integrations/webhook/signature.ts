import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'

/** The key that a secret of Standard Webhooks stands for. */
const keyOf = (secret: string): Buffer =>
  Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64')

/** Signs a message as Standard Webhooks says: one signature for each secret, with a space between them. */
export function signatureOf(
  message: { readonly id: string; readonly timestampSeconds: number; readonly body: string },
  secrets: readonly string[],
): string {
  const signed = `${message.id}.${message.timestampSeconds}.${message.body}`
  return secrets.map((secret) => `v1,${createHmac('sha256', keyOf(secret)).update(signed).digest('base64')}`).join(' ')
}
