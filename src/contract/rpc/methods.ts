import type { z } from 'zod'
import type { Permission } from '../../core/access.ts'
import type { RailsDoor } from '../operation.ts'
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
} from './params.ts'

/** One method of /rpc. Who may call it, what it takes, and the tests and docs of both are made from these. */
export interface RpcMethodSpec {
  /** One line; reads as what it does. */
  readonly summary: string
  readonly permission: Permission
  /** Left out: keys with guard rails are refused. */
  readonly rails?: RailsDoor
  readonly params: z.ZodType
  /** The params in short, and what is answered, for people. */
  readonly takes: string
  readonly answers: string
  /** Brings work: a node that goes down refuses it. */
  readonly newWork?: true
  /** Makes something: `Idempotency-Key` is honoured. */
  readonly creates?: true
  /** Hands in what becomes a run: it belongs to the trace of the request. */
  readonly admits?: true
}

const method = <const Spec extends RpcMethodSpec>(spec: Spec): Spec => spec

/** Every method of /rpc. */
export const RPC_METHODS = {
  'cron.list': method({
    summary: 'Lists jobs, newest first; those that are switched on unless asked otherwise',
    rails: 'list',
    ...{ permission: 'schedules:read', params: listParams },
    takes: '`includeDisabled?`, `agentId?`, `limit?` (200), `cursor?`',
    answers: '`{jobs, status, nextCursor?}`',
  }),
  'cron.create': method({
    summary: 'Makes a job',
    rails: 'list',
    ...{ permission: 'schedules:write', params: createParams, newWork: true, creates: true },
    takes:
      '`schedule {kind, atMs | everyMs | expr, tz?}`, `message`, `name?`, `agentId?`, `enabled?`, `deleteAfterRun?`, `stateless?`, `deliver?`, `deliverChannel?`, `deliverTo?`',
    answers: '`{job}`',
  }),
  'cron.update': method({
    summary: 'Changes a job; what is left out stays',
    rails: 'schedule',
    ...{ permission: 'schedules:write', params: updateParams },
    takes: '`jobId` or `id`, `patch` with the fields of `cron.create`',
    answers: '`{job}`',
  }),
  'cron.delete': method({
    summary: 'Deletes a job; what runs goes on, and the log stays',
    rails: 'schedule',
    ...{ permission: 'schedules:delete', params: jobParams },
    takes: '`jobId` or `id`',
    answers: '`{deleted: true}`',
  }),
  'cron.toggle': method({
    summary: 'Switches a job on or off',
    rails: 'schedule',
    ...{ permission: 'schedules:write', params: toggleParams },
    takes: '`jobId` or `id`, `enabled`',
    answers: '`{jobId, enabled}`',
  }),
  'cron.status': method({
    summary: 'Says whether jobs are run, and how many are switched on',
    rails: 'list',
    ...{ permission: 'schedules:read', params: noParams },
    takes: '-',
    answers: '`{enabled, jobs}`',
  }),
  'cron.run': method({
    summary: 'Runs a job now, or, with `due`, only if it is due',
    rails: 'schedule',
    ...{ permission: 'schedules:run', params: runParams, newWork: true, creates: true, admits: true },
    takes: '`jobId` or `id`, `mode?` (`force`)',
    answers: '`{ok, ran, runId?, reason?}`',
  }),
  'cron.runs': method({
    summary: 'Lists the runs of a job, newest first',
    rails: 'schedule',
    ...{ permission: 'schedules:read', params: runsParams },
    takes: '`jobId` or `id`, `limit?` (20), `offset?`',
    answers: '`{entries, total}`',
  }),
  'heartbeat.get': method({
    summary: 'Shows the heartbeat of an agent',
    ...{ permission: 'agents:read', params: heartbeatParams },
    takes: '`agentId`',
    answers: '`{heartbeat}`',
  }),
  'heartbeat.set': method({
    summary: 'Changes the heartbeat of an agent; what is left out stays, null is the default',
    ...{ permission: 'agents:write', params: heartbeatSetParams },
    takes:
      '`agentId`, `enabled?`, `intervalSec?`, `checklist?` or `checklistFile?`, `prompt?`, `target?` or `channel?` with `chatId?`, `ackMaxChars?`, `activeHoursStart?`, `activeHoursEnd?`, `timezone?`, `session?`, `adaptive?`',
    answers: '`{heartbeat}`',
  }),
  'heartbeat.toggle': method({
    summary: 'Switches the heartbeat of an agent on or off',
    ...{ permission: 'agents:write', params: heartbeatToggleParams },
    takes: '`agentId`, `enabled`',
    answers: '`{agentId, enabled}`',
  }),
  'heartbeat.test': method({
    summary: 'Lets the heart of an agent beat once, now',
    ...{ permission: 'agents:write', params: heartbeatParams, newWork: true, creates: true, admits: true },
    takes: '`agentId`',
    answers: '`{ok, ran, runId?, reason?}`',
  }),
  'heartbeat.logs': method({
    summary: 'Lists what became of the heartbeats of an agent, newest first',
    ...{ permission: 'agents:read', params: heartbeatLogsParams },
    takes: '`agentId`, `limit?` (20), `offset?`',
    answers: '`{entries, total}`',
  }),
  'sessions.stop': method({
    summary: 'Cancels the oldest active run of a session',
    rails: 'session',
    ...{ permission: 'sessions:write', params: sessionParams },
    takes: '`key` or `sessionKey`',
    answers: '`{stopped, drained}`',
  }),
  'sessions.stopall': method({
    summary: 'Cancels everything in a session, waiting or active',
    rails: 'session',
    ...{ permission: 'sessions:write', params: sessionParams },
    takes: '`key` or `sessionKey`',
    answers: '`{stopped, drained}`',
  }),
} satisfies Readonly<Record<string, RpcMethodSpec>>

export type RpcMethods = typeof RPC_METHODS
export type RpcMethodName = keyof RpcMethods
