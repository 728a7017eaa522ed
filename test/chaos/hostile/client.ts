import { Agent, request } from 'node:http'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

export interface Asked {
  readonly method?: string
  readonly path: string
  /** Text is sent as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends requests to a server. An answer that does not come, or is not whole, is an error. */
export type Client = (asked: Asked) => Promise<Answer>

const MAX_WAIT_MS = 60_000

/** `key` is left out for requests that carry a cookie, or nothing. */
export function createClient(url: string, key?: string): Client {
  const agent = new Agent({ keepAlive: true })
  return ({ method, path, body, headers = {} }) =>
    new Promise((resolve, reject) => {
      const sent = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body)
      const sending = request(new URL(path, url), {
        agent,
        method: method ?? (sent === null ? 'GET' : 'POST'),
        timeout: MAX_WAIT_MS,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(sent === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
          ...headers,
        },
      })
      sending.once('timeout', () => sending.destroy(new Error(`no answer after ${MAX_WAIT_MS} ms`)))
      sending.once('error', reject)
      sending.once('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', reject)
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
        })
      })
      sending.end(sent ?? undefined)
    })
}

/** The answer to a request that must succeed. */
export async function demand(client: Client, asked: Asked): Promise<Readonly<Record<string, unknown>>> {
  const { status, text } = await client(asked)
  if (status >= 300) throw new Error(`${asked.method ?? ''} ${asked.path}: ${status} ${text.slice(0, 300)}`)
  return (text === '' ? {} : JSON.parse(text)) as Readonly<Record<string, unknown>>
}
