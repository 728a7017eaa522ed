import type { CommandProbe, HttpProbe } from '../../domain/probe/probe.ts'
import type { ProbeAnswer, Sight } from './verdict.ts'

/** Looks outside for a probe. Whatever is there, something comes of it: nothing is thrown. */
export type Look = (probe: HttpProbe | CommandProbe, signal: AbortSignal) => Promise<Sight>

/** What is put on record about one asking. */
export interface ProbeRecord {
  /** Whose the probe is. */
  readonly subject: string
  readonly answer: ProbeAnswer
  /** Who was asked, in few words. */
  readonly asked: string
  readonly sentence: string
  readonly seen: string
  /** What the last asking saw whose run succeeded. */
  readonly seenMark: string | null
  /** What this run is woken for; null: nothing that could be told apart, or nobody is woken. */
  readonly wokenMark: string | null
}

/** The share of runs that a probe has started so far; undefined: it was never asked. */
export const startedShare = (
  counts: { readonly asked: number; readonly saved: number } | undefined,
): number | undefined => (counts === undefined || counts.asked === 0 ? undefined : 1 - counts.saved / counts.asked)

/** Under which name the probe of a heartbeat is counted; that of a schedule has the schedule's id. */
export const heartbeatSubject = (agentId: string): string => `heartbeat:${agentId}`
