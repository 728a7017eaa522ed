import type { CreateParams, CronScheduleParams, PatchParams } from '../../contract/rpc/params.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { ScheduleInput } from '../../contract/schedule.ts'
import type { Flaw } from '../../domain/input.ts'

/** The empty text says nothing in GoClaw. */
const said = (text: string | null | undefined): string | undefined =>
  text === null || text === undefined || text === '' ? undefined : text

type Writable = { -readonly [Name in keyof ScheduleInput]: ScheduleInput[Name] }

function timingOf(schedule: CronScheduleParams | null | undefined): ScheduleInput {
  const { kind, atMs, everyMs, expr, tz } = schedule ?? {}
  const [rule, zone] = [said(expr), said(tz)]
  return {
    ...(kind === null || kind === undefined ? {} : { kind }),
    ...(atMs === null || atMs === undefined ? {} : { atMs }),
    ...(everyMs === null || everyMs === undefined ? {} : { everyMs }),
    ...(rule === undefined ? {} : { expr: rule }),
    ...(zone === undefined ? {} : { tz: zone }),
  }
}

function fieldsOf(job: CreateParams | PatchParams): Writable {
  const fields: Writable = { ...timingOf(job.schedule) }
  const [name, message] = [said(job.name), said(job.message)]
  if (name !== undefined) fields.name = name
  if (message !== undefined) fields.payload = { prompt: message }
  if (typeof job.enabled === 'boolean') fields.enabled = job.enabled
  if (typeof job.deleteAfterRun === 'boolean') fields.delete_after_run = job.deleteAfterRun
  if (typeof job.stateless === 'boolean') fields.session = job.stateless ? 'isolated' : 'main'
  return fields
}

/** A job that is to be made, as the schedule it is. */
export function newSchedule(job: CreateParams): ScheduleInput {
  const agent = said(job.agentId)
  return { ...fieldsOf(job), ...(agent === undefined ? {} : { agent_id: agent }) }
}

/** A change of a job. Here the empty text as agent means something: the default one. */
export function scheduleChange(patch: PatchParams): ScheduleInput {
  const { agentId } = patch
  if (agentId === undefined || agentId === null) return fieldsOf(patch)
  return { ...fieldsOf(patch), agent_id: agentId === '' ? null : agentId }
}

/** Where a field of a schedule stands in the params. */
const PLACES: Readonly<Record<string, string>> = {
  schedule: 'schedule',
  kind: 'schedule.kind',
  at: 'schedule.atMs',
  atMs: 'schedule.atMs',
  every_seconds: 'schedule.everyMs',
  everyMs: 'schedule.everyMs',
  cron: 'schedule.expr',
  expr: 'schedule.expr',
  tz: 'schedule.tz',
  timezone: 'schedule.tz',
  agent_id: 'agentId',
  payload: 'message',
  delete_after_run: 'deleteAfterRun',
  session: 'stateless',
  delivery: 'deliverTo',
}

const moved = (flaw: Flaw, within: string): Flaw => {
  const [first = ''] = flaw.field.split('.')
  const place = PLACES[first] ?? (first === '' ? 'schedule' : flaw.field)
  return { ...flaw, field: `${within}${place}` }
}

/** Does something with a schedule; what is wrong with it is said in the names of the params. */
export async function inParams<T>(within: '' | 'patch.', work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal && error.flaws.length > 0)
      throw invalid(error.flaws.map((flaw) => moved(flaw, within)))
    throw error
  }
}
