import type { Command } from 'commander'
import { seconds } from '../remote/fields.ts'
import { UsageError } from '../remote/usage.ts'
import { instant } from '../../domain/instant.ts'

/** Nobody waits longer; the server would refuse it. */
export const LONGEST_WAIT_SECONDS = 300

export interface WaitOptions {
  readonly wait?: string | boolean
}

/** Adds the option that waits for the answer. */
export const withWait = (command: Command): Command =>
  command.option('--wait [duration]', `wait for the answer, at most this long (default ${LONGEST_WAIT_SECONDS}s)`)

/** How many seconds to wait; null when nobody wants to. */
export function waitOf({ wait }: WaitOptions): number | null {
  if (wait === undefined || wait === false) return null
  if (wait === true) return LONGEST_WAIT_SECONDS
  const asked = seconds(wait, { option: '--wait', now: instant(0) }) as number
  if (asked < 0 || asked > LONGEST_WAIT_SECONDS)
    throw new UsageError(`--wait "${wait}" is out of range. Allowed: 0s to ${LONGEST_WAIT_SECONDS}s`)
  return asked
}
