import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { signatureOf } from '../../../src/integrations/webhook/signature.ts'

const guide = readFileSync(new URL('../../../docs/guides/webhooks.md', import.meta.url), 'utf8')
const [, code = ''] = /```js\n([\s\S]*?)```/.exec(guide) ?? []

type Verify = (body: string, headers: Readonly<Record<string, string>>, secret: string, now: number) => unknown

const NOW = 1_795_000_000_000
const [OLD, NEW] = ['old', 'new'].map(
  (word) => `whsec_${Buffer.from(`${word} secret of the org ....`).toString('base64')}`,
) as [string, string]
const body = '{"type":"run.completed","é":1}'

function headers(secrets: readonly string[]): Readonly<Record<string, string>> {
  const message = { id: 'msg_1', timestampSeconds: NOW / 1_000, body }
  return {
    ...{ 'webhook-id': 'msg_1', 'webhook-timestamp': String(NOW / 1_000) },
    'webhook-signature': signatureOf(message, secrets),
  }
}

describe('the verification in the guide', () => {
  it('accepts what we sign, also while the secret is being changed, and nothing else', async () => {
    const { verify } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { readonly verify: Verify }
    expect(verify(body, headers([OLD]), OLD, NOW)).toEqual({ type: 'run.completed', é: 1 })
    for (const secret of [OLD, NEW]) expect(() => verify(body, headers([NEW, OLD]), secret, NOW)).not.toThrow()
    expect(() => verify(body, headers([NEW]), OLD, NOW)).toThrow('not signed by us')
    expect(() => verify(`${body} `, headers([OLD]), OLD, NOW)).toThrow('not signed by us')
    expect(() => verify(body, { ...headers([OLD]), 'webhook-id': 'msg_2' }, OLD, NOW)).toThrow('not signed by us')
    expect(() => verify(body, headers([OLD]), OLD, NOW + 301_000)).toThrow('too old')
  })
})
