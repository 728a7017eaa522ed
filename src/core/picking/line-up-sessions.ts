import { closedGate, type SessionLoad, type Standing } from '../../domain/queue/gates.ts'
import { instant } from '../../domain/instant.ts'
import { seatIn } from './heap.ts'
import { offer, withdraw } from './line-up-lines.ts'
import type { Entry, Mutable, Places, Session } from './line-up-places.ts'
import { MAIN_LANE } from '../../domain/queue/lanes.ts'

/**
 * A session lets its head compete only while it has room, so whatever stands in a lane has passed the gates of its
 * session. They are asked with everything else open: those who stand behind change with the session, the rest with the
 * lane, and each is looked at only when it has changed.
 */
const OPEN = { inFlight: 0, limit: null }
const ELSE_OPEN: Standing = {
  now: instant(Number.MAX_SAFE_INTEGER),
  session: null,
  agent: OPEN,
  agentTasks: OPEN,
  org: OPEN,
  orgTasks: OPEN,
  budgets: new Map(),
  provider: null,
  catchup: OPEN,
  lane: { name: MAIN_LANE, size: 1, held: 0 },
}

/** Asked with every change, so the question is put with the same object each time. */
const asked: Mutable<Standing> = { ...ELSE_OPEN }

function mayCompete(entry: Entry): boolean {
  asked.session = entry.session?.load ?? null
  return closedGate(entry, asked) === null
}

/** Whether the budgets alone have room for the run. */
export const hasBudget = (entry: Entry, places: Places): boolean =>
  closedGate(entry, { ...ELSE_OPEN, session: entry.session?.load ?? null, budgets: places.budgets }) === null

/** Gives a queued run its place: in the order of its session if it has one, whose head is then to be reviewed. */
export function enqueue(places: Places, entry: Entry): void {
  const { session } = entry
  // A parked run gets its place with its slot; see `hasPlace`.
  if (entry.parkedBehind !== null) return
  if (session === null) {
    review(places, entry)
    return
  }
  const { head } = session
  if (head === null) makeHead(session, entry)
  else if (session.behind.isBefore(entry, head)) {
    withdraw(places, head)
    makeHead(session, entry)
    standBehind(session, head)
  } else standBehind(session, entry)
}

/** Takes a queued run from its place; the next of its session moves up, and is to be reviewed. */
export function dequeue(places: Places, entry: Entry): void {
  const { session } = entry
  withdraw(places, entry)
  if (session === null || session.head !== entry) return
  const next = session.behind.items[0] ?? null
  if (next !== null) withdraw(places, next)
  makeHead(session, next)
}

function makeHead(session: Session, entry: Entry | null): void {
  session.head = entry
  session.load.head = entry?.id ?? null
}

function standBehind(session: Session, entry: Entry): void {
  seatIn(session.behind, entry)
  entry.heap = session.behind
}

/** The session has changed: its head competes, or does so no more. */
export function reviewHead(places: Places, session: Session | null): void {
  if (session !== null && session.head !== null) review(places, session.head)
}

/** Something of a head, or of a run without a session, has changed: it competes, or does so no more. */
export function review(places: Places, entry: Entry): void {
  const may = mayCompete(entry)
  if (may && entry.heap === null) offer(entry)
  if (!may && entry.heap !== null) withdraw(places, entry)
}

/** Sets the limits of a session. */
export function limitSession(
  places: Places,
  session: Session,
  limits: Pick<SessionLoad, 'maxConcurrent' | 'context'>,
): void {
  const load: Mutable<SessionLoad> = session.load
  load.maxConcurrent = limits.maxConcurrent
  load.context = limits.context
  reviewHead(places, session)
}
