import { closeSync, openSync, readSync } from 'node:fs'

/** The progress of a step, read from the file that its reporter writes. */
export function createProgress(file) {
  const state = { files: 0, done: 0, passed: 0, failed: 0 }
  const descriptor = openSync(file, 'a+')
  const chunk = Buffer.alloc(65_536)
  let rest = ''
  return {
    state,
    /** Reads events since the last call, and returns the failures among them. */
    read: () => {
      for (let size = next(); size > 0; size = next()) rest += chunk.toString('utf8', 0, size)
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      return lines.map((line) => JSON.parse(line)).filter((event) => count(state, event))
    },
    close: () => closeSync(descriptor),
  }

  function next() {
    return readSync(descriptor, chunk, 0, chunk.length, null)
  }
}

/** Adds an event to the state, and returns whether it is a failure. */
function count(state, { kind, ...event }) {
  if (kind === 'begins') state.files += event.files
  if (kind === 'file') state.done += 1
  if (kind === 'test' && event.state === 'passed') state.passed += 1
  if (kind === 'test' && event.state === 'failed') state.failed += 1
  return kind === 'failure'
}

/** Minimum share of finished files for an estimate. */
const ENOUGH = 0.1

/** Seconds left if the remaining files take as long as the finished ones; `undefined` without an estimate. */
export function secondsLeft({ files, done }, seconds) {
  const share = files === 0 ? 0 : done / files
  return share < ENOUGH ? undefined : (seconds * (1 - share)) / share
}
