/**
 * The pieces of an answer as they arrive, until it ends or the signal aborts. The signal is listened to here as well as by
 * the request: on Node 20 a request forgets its signal when memory is collected while the answer is still arriving.
 */
export async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  // Not every browser can iterate over a stream.
  const reader = body.getReader()
  const hangUp = (): void => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', hangUp)
  if (signal.aborted) hangUp()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    signal.removeEventListener('abort', hangUp)
    hangUp()
  }
}
