import { secondsLeft } from './progress.mjs'

const BAR = 20
const FRAME_MS = 200

/**
 * Displays a run. On a terminal, each active step has a line at the bottom with a progress bar and the time left; elsewhere,
 * a line is printed when a step begins. Failures are printed as they happen, above those lines.
 */
export function createDisplay({ stream = process.stdout, width = 18, now = () => performance.now() } = {}) {
  const isLive = stream.isTTY === true
  const running = new Set()
  let shown = 0
  const clear = () => {
    if (shown > 0) stream.write(`\u001B[${shown}A\u001B[J`)
    shown = 0
  }
  const draw = () => {
    if (!isLive) return
    for (const { name, progress, began } of running)
      stream.write(
        `${lineOf({ name, width, state: progress.state, seconds: (now() - began) / 1000 }).slice(0, (stream.columns ?? 100) - 1)}\n`,
      )
    shown = running.size
  }
  const print = (text) => {
    clear()
    stream.write(text)
    draw()
  }
  return {
    print,
    /** Follows a step until the returned function is called with the step's last line. */
    follow: (name, progress) => {
      const step = { name, progress, began: now() }
      if (!isLive) stream.write(`== ${name}\n`)
      running.add(step)
      const look = () => {
        const failures = progress.read()
        if (failures.length > 0) print(failures.map(({ of, text }) => `failed: ${of}\n${indent(text)}\n`).join(''))
        else if (isLive) print('')
      }
      const timer = setInterval(look, FRAME_MS)
      return (last) => {
        clearInterval(timer)
        look()
        running.delete(step)
        print(last)
      }
    },
  }
}

/** The line of an active step: `core   [########............]  812 passed, 34 s, about 51 s left`. */
export function lineOf({ name, width, state, seconds }) {
  const full = state.files === 0 ? 0 : Math.floor((BAR * state.done) / state.files)
  const left = secondsLeft(state, seconds)
  const counts = `${state.passed} passed${state.failed > 0 ? `, ${state.failed} failed` : ''}`
  const rest = left === undefined ? '' : `, about ${duration(left)} left`
  return `${name.padEnd(width)}[${'#'.repeat(full)}${'.'.repeat(BAR - full)}]  ${counts}, ${duration(seconds)}${rest}`
}

export const duration = (seconds) =>
  seconds < 60 ? `${Math.round(seconds)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`

const indent = (text) => text.replaceAll(/^/gm, '    ')
