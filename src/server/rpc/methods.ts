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
} from '../../contract/rpc/params.ts'

/** What a method has from the operation behind it: who may call it, and what the door does about it. */
type Needs = Pick<OperationSpec, 'rails' | 'newWork' | 'creates' | 'admits'> & { readonly permission: Permission }

/** One method of /rpc. Who may call it, what it takes, and the tests and docs of both are made from these. */
export interface RpcMethodSpec extends Needs {
  /** One line; reads as what it does. */
  readonly summary: string
  readonly params: z.ZodType
  /** The params in short, and what is answered, for people. */
  readonly takes: string
  readonly answers: string
}

type Own = Omit<RpcMethodSpec, keyof Needs | 'summary'> & { readonly summary?: string }

/** A method that does what an operation does, in the words of GoClaw. */
function method<const Spec extends Own>(
  { permission, rails, newWork, creates, admits, summary }: Needs & Pick<OperationSpec, 'summary'>,
  own: Spec,
): RpcMethodSpec & Pick<Spec, 'params'> {
  const needs = Object.entries({ rails, newWork, creates, admits }).filter(([, value]) => value !== undefined)
  return { summary, permission, ...Object.fromEntries(needs), ...own }
}

/** Every method of /rpc. */
export const RPC_METHODS = {
  'cron.list': method(OPERATIONS['schedules.list'], {
    summary: 'Lists jobs, newest first; those that are switched on unless asked otherwise',
    params: listParams,
    takes: '`includeDisabled?`, `agentId?`, `limit?` (200), `cursor?`',
    answers: '`{jobs, status, nextCursor?}`',
  }),
  'cron.create': method(OPERATIONS['schedules.create'], {
    summary: 'Makes a job',
    params: createParams,
    takes:
      '`schedule {kind, atMs | everyMs | expr, tz?}`, `message`, `name?`, `agentId?`, `enabled?`, `deleteAfterRun?`, `stateless?`, `deliver?`, `deliverChannel?`, `deliverTo?`',
    answers: '`{job}`',
  }),
  'cron.update': method(OPERATIONS['schedules.update'], {
    summary: 'Changes a job; what is left out stays',
    params: updateParams,
    takes: '`jobId` or `id`, `patch` with the fields of `cron.create`',
    answers: '`{job}`',
  }),
  'cron.delete': method(OPERATIONS['schedules.delete'], {
    summary: 'Deletes a job; what runs goes on, and the log stays',
    params: jobParams,
    takes: '`jobId` or `id`',
    answers: '`{deleted: true}`',
  }),
  'cron.toggle': method(OPERATIONS['schedules.enable'], {
    summary: 'Switches a job on or off',
    params: toggleParams,
    takes: '`jobId` or `id`, `enabled`',
    answers: '`{jobId, enabled}`',
  }),
  'cron.status': method(OPERATIONS['schedules.list'], {
    summary: 'Says whether jobs are run, and how many are switched on',
    params: noParams,
    takes: '-',
    answers: '`{enabled, jobs}`',
  }),
  'cron.run': method(OPERATIONS['schedules.runNow'], {
    summary: 'Runs a job now, or, with `due`, only if it is due',
    params: runParams,
    takes: '`jobId` or `id`, `mode?` (`force`)',
    answers: '`{ok, ran, runId?, reason?}`',
  }),
  'cron.runs': method(OPERATIONS['schedules.runs'], {
    summary: 'Lists the runs of a job, newest first',
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
    summary: 'Changes the heartbeat of an agent; what is left out stays, null is the default',
    params: heartbeatSetParams,
    takes:
      '`agentId`, `enabled?`, `intervalSec?`, `checklist?` or `checklistFile?`, `prompt?`, `target?` or `channel?` with `chatId?`, `ackMaxChars?`, `activeHoursStart?`, `activeHoursEnd?`, `timezone?`, `session?`, `adaptive?`',
    answers: '`{heartbeat}`',
  }),
  'heartbeat.toggle': method(OPERATIONS['heartbeat.set'], {
    summary: 'Switches the heartbeat of an agent on or off',
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
    summary: 'Cancels everything in a session, waiting or active',
    params: sessionParams,
    takes: '`key` or `sessionKey`',
    answers: '`{stopped, drained}`',
  }),
} satisfies Readonly<Record<string, RpcMethodSpec>>

export type RpcMethods = typeof RPC_METHODS
export type RpcMethodName = keyof RpcMethods
