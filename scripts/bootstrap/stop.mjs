/** Ends the preparation with a message and an exit code, without a stack trace. */
export class Stop extends Error {
  constructor(message, ending = { code: 1 }) {
    super(message)
    this.code = ending.code
    this.signal = ending.signal
  }
}

/** The command to suggest if the preparation failed. */
export const PLAIN_COMMAND = 'npm ci && npm run build'
