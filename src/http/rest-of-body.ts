import type { Readable } from 'node:stream'

/** So long somebody may go on sending what nobody wants. */
const LONGEST_REST_MS = 1_000

/**
 * Reads what is left of a body and throws it away. A connection that is closed with something unread is reset, and with
 * it goes the answer that says why.
 */
export function readRest(body: Readable): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer)
      for (const end of ENDS) body.off(end, over)
      resolve()
    }
    const timer = setTimeout(over, LONGEST_REST_MS)
    for (const end of ENDS) body.once(end, over)
    if (body.readableEnded || body.destroyed) over()
    else body.resume()
  })
}

const ENDS = ['end', 'close', 'error'] as const
