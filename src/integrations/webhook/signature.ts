import { createHmac } from 'node:crypto'

const SECRET_PREFIX = 'whsec_'

/** The key bytes of a Standard Webhooks secret. */
const keyOf = (secret: string): Buffer =>
  Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64')

/** Signs a message by the rules of Standard Webhooks: one signature per secret, separated by spaces. */
export function signatureOf(
  message: { readonly id: string; readonly timestampSeconds: number; readonly body: string },
  secrets: readonly string[],
): string {
  const signed = `${message.id}.${message.timestampSeconds}.${message.body}`
  return secrets.map((secret) => `v1,${createHmac('sha256', keyOf(secret)).update(signed).digest('base64')}`).join(' ')
}
