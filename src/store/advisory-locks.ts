import { createHash } from 'node:crypto'

/**
 * Advisory locks share one space of numbers per database. Ours have two halves: what is locked, and which one. Every
 * first half of the program is in this table.
 */
export const LOCK_SPACE = {
  migration: 0x0e5c_0001,
  embeddedReference: 0x0e5c_0002,
  org: 0x0e5c_0003,
  sealingKey: 0x0e5c_0004,
} as const

/** The second half for something that has a name. */
export const lockNumber = (name: string): number => createHash('sha256').update(name).digest().readInt32BE(0)
