/** The end of the preparation with a message for a person: no stack, just the sentence and the exit code. */
export class Stop extends Error {
  constructor(message, ending = { code: 1 }) {
    super(message)
    this.code = ending.code
    this.signal = ending.signal
  }
}

/** What to type when the preparation could not be done here and now. */
export const PLAIN_COMMAND = 'npm ci && npm run build'
