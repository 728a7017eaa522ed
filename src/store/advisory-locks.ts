import { createHash } from 'node:crypto'
import { DEFAULT_SCHEMA } from './identifier.ts'

/**
 * Advisory locks share one space of numbers per database. Ours have two halves: what is locked, and which one. Every
 * first half of the program is in this table.
 */
export const LOCK_SPACE = {
  migration: 0x0e5c_0001,
  embeddedReference: 0x0e5c_0002,
  org: 0x0e5c_0003,
  history: 0x0e5c_0004,
  sealingKey: 0x0e5c_0005,
} as const

/** The second half for something that has a name. */
export const lockNumber = (name: string): number => createHash('sha256').update(name).digest().readInt32BE(0)

/**
 * The lock as deployments in different schemas of one database take it, which must not wait for each other. In the usual
 * schema it is the number as it is: nodes of 0.1.0 take that one.
 */
export const lockIn = (schema: string, [space, number]: readonly [number, number]): readonly [number, number] => [
  space,
  schema === DEFAULT_SCHEMA ? number : number ^ lockNumber(schema),
]
