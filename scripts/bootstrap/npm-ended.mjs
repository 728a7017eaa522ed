import { isatty } from 'node:tty'

const LOOK_MS = 250

/**
 * Ends this process as SIGTERM would when the npm that started it is terminated. npm forwards the signal to its shell, and
 * the shell dies without forwarding it: this process only notices that its parent has changed.
 */
export function endWithNpm() {
  // Without npm, the parent is a user's shell, which may end. On Windows, the parent never changes.
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return
  const parent = process.ppid
  // Check now, because a closed terminal can't be detected later.
  const hasTerminal = [0, 1, 2].some((stream) => isatty(stream))
  let missed = 0
  const timer = setInterval(() => {
    // Wait for the second check: a signal to the whole group also reaches this process, and a second signal has another effect.
    if (process.ppid === parent || ++missed < 2) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, LOOK_MS)
  timer.unref()
  for (const signal of ['SIGINT', 'SIGTERM']) overhear(signal, () => clearInterval(timer))
  // With `nohup npm start`, Node resets the signal handling of nohup, so a closed terminal ends npm. This process continues.
  overhear('SIGHUP', () => {
    if (!hasTerminal) clearInterval(timer)
  })
}

/** Observes a signal without changing its effect: without another listener, it still ends the process. */
function overhear(signal, act) {
  const listener = () => {
    act()
    if (process.listenerCount(signal) > 1) return
    process.off(signal, listener)
    process.kill(process.pid, signal)
  }
  process.on(signal, listener)
}
