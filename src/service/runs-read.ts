import type { Page } from '../api/page.ts'
import { invalid, Refusal } from '../api/refusals.ts'
import type { RunDetail, RunFilter, RunView } from '../features/runs/schema.ts'
import { addAll } from '../domain/long-lists.ts'
import { agentId, runId, scheduleId, sessionKey, type OrgId } from '../domain/ids.ts'
import { flawed, parsed, parseWord, type Parsed } from '../domain/input.ts'
import { parseMoment, type Instant } from '../domain/instant.ts'
import { whyOf } from '../domain/reasons.ts'
import { TRIGGERS } from '../domain/run/run.ts'
import type { RunState } from '../domain/run/run-machine.ts'
import { parseRunStates } from '../domain/run/run-words.ts'
import { loadAttempts } from '../store/attempts.ts'
import { listRunPage, loadRun, type RunChoice } from '../store/run-reads.ts'
import type { RunRecord } from '../store/run-record.ts'
import { loadSchedules } from '../store/schedules.ts'
import { deliveriesOfRun } from '../features/deliveries/service.ts'
import { pageOfListed, parseCursor, parseLimit, writeCursor } from '../platform/db/cursor.ts'
import type { Caller } from './caller.ts'
import { collectFlaws, textField, unknownFields } from '../domain/input-fields.ts'
import type { Live } from './live-port.ts'
import type { Ports } from './ports.ts'
import { answerOfRun } from '../features/probes/view.ts'
import { ownRuns } from './rails/own.ts'
import { viewRun, viewRunDetail } from '../features/runs/view.ts'

type Reading = Pick<Ports, 'database'>

/** The refusal for a run that is not there, or not this org's. */
const noRun = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no run ${id}`)

/** The run as it is on record. */
export async function readRun({ database }: Reading, orgId: OrgId, id: string): Promise<RunRecord> {
  // PostgreSQL takes no NUL in a text, and no id has one; a program in JavaScript may hand in what is no text.
  const run =
    typeof id !== 'string' || id.includes('\u0000') ? undefined : await loadRun(database, { orgId, id: runId(id) })
  if (run === undefined) throw noRun(id)
  return run
}

/** The run. */
export const getRun = async (ports: Reading, orgId: OrgId, id: string): Promise<RunView> =>
  viewRun(await readRun(ports, orgId, id))

interface AskedRun {
  readonly orgId: OrgId
  readonly id: string
}

/**
 * The run with its attempts and its way so far. Why a pending run is where it is, is worked out where that can be known;
 * what `live` cannot say is taken from the record.
 */
export async function getRunDetail(ports: Reading, asked: AskedRun, live?: Live): Promise<RunDetail> {
  const run = await readRun(ports, asked.orgId, asked.id)
  const attempts = await loadAttempts(ports.database, { orgId: asked.orgId, runId: run.id })
  const deliveries = run.delivery === null ? [] : await deliveriesOfRun(ports.database, asked.orgId, run.id)
  const wait = live?.explain(asked.orgId, run.id) ?? null
  const probe = await answerOfRun(ports, run)
  return viewRunDetail(run, { attempts, deliveries, probe }, wait === null ? null : whyOf(wait))
}

/** Whose runs are looked at, and by whom. */
interface Seeing extends Pick<Caller, 'orgId' | 'railed'> {
  /** For readers of schedules who may not read other runs. */
  readonly onlyOfSchedules?: boolean
}

/** A page of the org's runs, newest first. */
export async function findRuns(
  { database }: Reading,
  { orgId, railed, onlyOfSchedules = false }: Seeing,
  filter: RunFilter = {},
): Promise<Page<RunView>> {
  const { flaws, keep } = collectFlaws()
  const choice = keep(parseRunFilter(orgId, filter))
  const cursor = keep(parseCursor('cursor', filter.cursor))
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  if (choice === null || flaws.length > 0) throw invalid(flaws)
  const after = cursor === null ? null : { createdAt: cursor.createdAt, id: runId(cursor.key) }
  const owned = ownRuns(railed) ?? null
  const listed = await listRunPage(database, { ...choice, owned, onlyOfSchedules, after, limit })
  return pageOfListed(listed, viewRun, ({ createdAt, id: key }) => writeCursor({ createdAt, key }))
}

/** A page of a schedule's runs. The runs of a schedule that is gone are found among all runs. */
export async function findRunsOfSchedule(
  ports: Reading,
  asked: Seeing & { readonly id: string },
  filter: RunFilter = {},
): Promise<Page<RunView>> {
  const { orgId, id } = asked
  const page = await findRuns(ports, asked, { ...filter, schedule_id: id })
  if (page.items.length > 0) return page
  const [row] = await loadSchedules(ports.database, { orgId, ids: [scheduleId(id)] })
  if (row === undefined) throw new Refusal('NOT_FOUND', `There is no schedule ${id}`)
  return page
}

const FILTER_FIELDS = [
  ...['schedule_id', 'agent_id', 'session', 'status', 'trigger', 'from', 'to'],
  ...['agent_error_code', 'limit', 'cursor'],
]

/** Reads which runs are wanted. */
function parseRunFilter(orgId: OrgId, filter: RunFilter): Parsed<RunChoice> {
  const { flaws, keep } = collectFlaws()
  addAll(flaws, unknownFields('', { ...filter }, FILTER_FIELDS))
  const text = (field: string, value: unknown): string | null =>
    value === undefined || value === null ? null : keep(textField({ min: 1, max: 512 })(field, value))
  const moment = (field: string, value: unknown): Instant | null =>
    value === undefined || value === null ? null : keep(parseMoment(field, value))
  const [schedule, agent, session] = [
    text('schedule_id', filter.schedule_id),
    text('agent_id', filter.agent_id),
    text('session', filter.session),
  ]
  const choice: RunChoice = {
    orgId,
    scheduleId: schedule === null ? null : scheduleId(schedule),
    agentId: agent === null ? null : agentId(agent),
    sessionKey: session === null ? null : sessionKey(session),
    states: filter.status === undefined ? null : keep(parseStates(filter.status)),
    trigger: filter.trigger === undefined ? null : keep(parseWord('trigger', filter.trigger, TRIGGERS)),
    agentErrorCode: text('agent_error_code', filter.agent_error_code),
    from: moment('from', filter.from),
    to: moment('to', filter.to),
  }
  return flaws.length > 0 ? flawed(flaws) : parsed(choice)
}

/** A list of words, or one text with commas. */
const parseStates = (status: string | readonly string[]): Parsed<readonly RunState[]> =>
  parseRunStates('status', typeof status === 'string' ? status : status.join(','))
