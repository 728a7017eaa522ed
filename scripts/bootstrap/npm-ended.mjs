import { isatty } from 'node:tty'

const LOOK_MS = 250

/**
 * Ends this process, as SIGTERM would, when the npm that started it has been told to end. npm hands the signal to its
 * shell, the shell dies of it and tells nobody: all that can be seen from here is another parent than before.
 */
export function endWithNpm() {
  // Without npm the parent is somebody's shell, and may go. Windows never names another parent.
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return
  const parent = process.ppid
  // Asked now: one that is closed is none.
  const hasTerminal = [0, 1, 2].some((stream) => isatty(stream))
  let missed = 0
  const timer = setInterval(() => {
    // Only the second time: whoever told the whole group told us too, and two signals mean more than one.
    if (process.ppid === parent || ++missed < 2) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, LOOK_MS)
  timer.unref()
  for (const signal of ['SIGINT', 'SIGTERM']) overhear(signal, () => clearInterval(timer))
  // `nohup npm start`: Node undoes what nohup did, so that a closed terminal ends npm all the same. The rest is to go on.
  overhear('SIGHUP', () => {
    if (!hasTerminal) clearInterval(timer)
  })
}

/** Hears a signal and leaves its effect as it is: without a listener of somebody else it ends the process. */
function overhear(signal, act) {
  const listener = () => {
    act()
    if (process.listenerCount(signal) > 1) return
    process.off(signal, listener)
    process.kill(process.pid, signal)
  }
  process.on(signal, listener)
}
