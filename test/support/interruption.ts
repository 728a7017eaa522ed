const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Cleans up, without waiting for anything, when somebody ends this process early; it then ends as it would have. Answers
 * with how to call that off.
 */
export function onInterruption(cleanUp: () => void): () => void {
  const handlers = ENDING.map((signal) => {
    const handler = (): void => {
      callOff()
      try {
        cleanUp()
      } finally {
        process.kill(process.pid, signal)
      }
    }
    process.on(signal, handler)
    return [signal, handler] as const
  })
  const callOff = (): void => handlers.forEach(([signal, handler]) => process.off(signal, handler))
  return callOff
}
