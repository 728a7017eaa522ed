import type { Command } from 'commander'
import { UsageError } from '../remote/usage.ts'

export interface VersionOptions {
  readonly ifVersion?: string
}

/** Adds the option that changes something only as long as nobody else has. */
export const withVersion = (command: Command): Command =>
  command.option('--if-version <n>', 'only if this is still its version')

/** The version that is to be changed, for the client. */
export function ifMatch({ ifVersion }: VersionOptions): { readonly ifMatch?: number } {
  if (ifVersion === undefined) return {}
  if (!/^\d{1,15}$/.test(ifVersion)) throw new UsageError(`--if-version "${ifVersion}" must be a whole number`)
  return { ifMatch: Number(ifVersion) }
}
