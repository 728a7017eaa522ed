import { closeSync, openSync, readSync } from 'node:fs'

/** How far a step is, as its reporter tells in a file. */
export function createProgress(file) {
  const state = { files: 0, done: 0, passed: 0, failed: 0 }
  const descriptor = openSync(file, 'a+')
  const chunk = Buffer.alloc(65_536)
  let rest = ''
  return {
    state,
    /** Reads what has come since the last time, and answers with the failures in it. */
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

/** Takes an event into the state, and answers whether it is a failure to be told. */
function count(state, { kind, ...event }) {
  if (kind === 'begins') state.files += event.files
  if (kind === 'file') state.done += 1
  if (kind === 'test' && event.state === 'passed') state.passed += 1
  if (kind === 'test' && event.state === 'failed') state.failed += 1
  return kind === 'failure'
}

/** Less than this of the files, and what is left is a guess. */
const ENOUGH = 0.1

/** Seconds that are left if the rest of the files is like those that are done; `undefined` while nothing can be said. */
export function secondsLeft({ files, done }, seconds) {
  const share = files === 0 ? 0 : done / files
  return share < ENOUGH ? undefined : (seconds * (1 - share)) / share
}
