import { describe, expect, it } from 'vitest'
import { signInLink } from '../../src/features/access/cli.ts'
import { createClient } from '../../src/client/client.ts'

const url = 'http://127.0.0.1:7420'

/** The link a command prints when the server answers a question for its settings with this. */
const linkWhen = (answer: Response): Promise<string> =>
  signInLink(
    { url, client: createClient({ url, key: 'esc_x', retries: 0, fetch: () => Promise.resolve(answer) }) },
    'tok',
  )

const settings = (value: string | null): Response =>
  Response.json({ values: { 'server.public_url': { value, source: 'environment' } } })

describe('a link that signs in', () => {
  it('has the name by which people reach the server, behind a proxy', async () => {
    expect(await linkWhen(settings('https://escapement.example.com'))).toBe(
      'https://escapement.example.com/#signin=tok',
    )
    expect(await linkWhen(settings('https://escapement.example.com/'))).toBe(
      'https://escapement.example.com/#signin=tok',
    )
  })

  it('has the address that was asked where there is no other name, or this key may not see it', async () => {
    expect(await linkWhen(settings(null))).toBe(`${url}/#signin=tok`)
    const told = { code: 'FORBIDDEN', detail: 'no', title: 'no', status: 403, request_id: 'req' }
    const headers = { 'content-type': 'application/problem+json' }
    expect(await linkWhen(Response.json(told, { status: 403, headers }))).toBe(`${url}/#signin=tok`)
  })
})
