import type { z } from 'zod'
import type { OperationSpec } from '../../api/operation.ts'
import type { Permission } from '../../domain/access/access.ts'
import { OPERATIONS } from '../../operations/table.ts'
import {
  createParams,
  heartbeatLogsParams,
  heartbeatParams,
  heartbeatSetParams,
  heartbeatToggleParams,
  jobParams,
  listParams,
  noParams,
  runParams,
  runsParams,
  sessionParams,
  toggleParams,
  updateParams,
} from './schema.ts'

/** What a method inherits from its operation: the permission and how the transport handles it. */
type MethodAccess = Pick<OperationSpec, 'restrictedAccess' | 'newWork' | 'creates' | 'admits'> & {
  readonly permission: Permission
}

/** One method of /rpc. Access checks, validation, tests and docs are derived from this. */
export interface RpcMethodSpec extends MethodAccess {
  /** One line that starts with a verb. */
  readonly summary: string
  readonly params: z.ZodType
  /** The params and the result in short, for the docs. */
  readonly takes: string
  readonly answers: string
}

type MethodDetails = Omit<RpcMethodSpec, keyof MethodAccess | 'summary'> & { readonly summary?: string }

/** A method for an operation, with the names of GoClaw. */
function method<const Spec extends MethodDetails>(
  { permission, restrictedAccess, newWork, creates, admits, summary }: MethodAccess & Pick<OperationSpec, 'summary'>,
  own: Spec,
): RpcMethodSpec & Pick<Spec, 'params'> {
  const needs = Object.entries({ restrictedAccess, newWork, creates, admits }).filter(
    ([, value]) => value !== undefined,
  )
  return { summary, permission, ...Object.fromEntries(needs), ...own }
}

/** Every method of /rpc. */
export const RPC_METHODS = {
  'cron.list': method(OPERATIONS['schedules.list'], {
    summary: 'List jobs, newest first; only enabled ones by default',
    params: listParams,
    takes: '`includeDisabled?`, `agentId?`, `limit?` (200), `cursor?`',
    answers: '`{jobs, status, nextCursor?}`',
  }),
  'cron.create': method(OPERATIONS['schedules.create'], {
    summary: 'Create a job',
    params: createParams,
    takes:
      '`schedule {kind, atMs | everyMs | expr, tz?}`, `message`, `name?`, `agentId?`, `enabled?`, `deleteAfterRun?`, `stateless?`, `deliver?`, `deliverChannel?`, `deliverTo?`',
    answers: '`{job}`',
  }),
  'cron.update': method(OPERATIONS['schedules.update'], {
    summary: 'Update a job; omitted fields stay unchanged',
    params: updateParams,
    takes: '`jobId` or `id`, `patch` with the fields of `cron.create`',
    answers: '`{job}`',
  }),
  'cron.delete': method(OPERATIONS['schedules.delete'], {
    summary: 'Delete a job; active runs continue, and the log stays',
    params: jobParams,
    takes: '`jobId` or `id`',
    answers: '`{deleted: true}`',
  }),
  'cron.toggle': method(OPERATIONS['schedules.enable'], {
    summary: 'Enable or disable a job',
    params: toggleParams,
    takes: '`jobId` or `id`, `enabled`',
    answers: '`{jobId, enabled}`',
  }),
  'cron.status': method(OPERATIONS['schedules.list'], {
    summary: 'Get whether jobs are run, and how many are enabled',
    params: noParams,
    takes: '-',
    answers: '`{enabled, jobs}`',
  }),
  'cron.run': method(OPERATIONS['schedules.runNow'], {
    summary: 'Run a job now, or, with `due`, only if it is due',
    params: runParams,
    takes: '`jobId` or `id`, `mode?` (`force`)',
    answers: '`{ok, ran, runId?, reason?}`',
  }),
  'cron.runs': method(OPERATIONS['schedules.runs'], {
    summary: 'List the runs of a job, newest first',
    params: runsParams,
    takes: '`jobId` or `id`, `limit?` (20), `offset?`',
    answers: '`{entries, total}`',
  }),
  'heartbeat.get': method(OPERATIONS['heartbeat.get'], {
    params: heartbeatParams,
    takes: '`agentId`',
    answers: '`{heartbeat}`',
  }),
  'heartbeat.set': method(OPERATIONS['heartbeat.set'], {
    summary: 'Update the heartbeat of an agent; omitted fields stay unchanged, null restores the default',
    params: heartbeatSetParams,
    takes:
      '`agentId`, `enabled?`, `intervalSec?`, `checklist?` or `checklistFile?`, `prompt?`, `target?` or `channel?` with `chatId?`, `ackMaxChars?`, `activeHoursStart?`, `activeHoursEnd?`, `timezone?`, `session?`, `adaptive?`',
    answers: '`{heartbeat}`',
  }),
  'heartbeat.toggle': method(OPERATIONS['heartbeat.set'], {
    summary: 'Enable or disable the heartbeat of an agent',
    params: heartbeatToggleParams,
    takes: '`agentId`, `enabled`',
    answers: '`{agentId, enabled}`',
  }),
  'heartbeat.test': method(OPERATIONS['heartbeat.test'], {
    params: heartbeatParams,
    takes: '`agentId`',
    answers: '`{ok, ran, runId?, reason?}`',
  }),
  'heartbeat.logs': method(OPERATIONS['heartbeat.log'], {
    params: heartbeatLogsParams,
    takes: '`agentId`, `limit?` (20), `offset?`',
    answers: '`{entries, total}`',
  }),
  'sessions.stop': method(OPERATIONS['sessions.stop'], {
    params: sessionParams,
    takes: '`key` or `sessionKey`',
    answers: '`{stopped, drained}`',
  }),
  'sessions.stopall': method(OPERATIONS['sessions.stopAll'], {
    summary: 'Cancel all runs of a session, waiting or active',
    params: sessionParams,
    takes: '`key` or `sessionKey`',
    answers: '`{stopped, drained}`',
  }),
} satisfies Readonly<Record<string, RpcMethodSpec>>

export type RpcMethods = typeof RPC_METHODS
export type RpcMethodName = keyof RpcMethods
