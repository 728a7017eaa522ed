import { describe, expect, it } from 'vitest'
import { agentId, attemptId, laneName, orgId, runId } from '../../../src/domain/ids.ts'
import { later } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import { viewRun, viewRunDetail } from '../../../src/features/runs/view.ts'
import { viewTask } from '../../../src/features/tasks/view.ts'
import type { AttemptRow } from '../../../src/features/runs/attempts-store.ts'
import type { RunRecord } from '../../../src/features/runs/record-store.ts'
import { NOW } from '../../support/builders.ts'

const aRun = (over: Partial<RunRecord> = {}): RunRecord => ({
  orgId: orgId('acme'),
  id: runId('run_1'),
  jobRunId: 'run_1',
  agentId: agentId('writer'),
  sessionKey: null,
  scheduleId: null,
  nominal: null,
  trigger: 'message',
  lane: laneName('main'),
  priority: 0,
  createdAt: NOW,
  deadline: null,
  firstAttempt: 1,
  retryOf: null,
  parentRunId: null,
  ...{ owner: null, lineage: null },
  sender: null,
  payload: null,
  decision: because('accepted', 'admission'),
  heldDecision: null,
  delivery: null,
  trace: null,
  state: 'queued',
  attempt: 1,
  attemptId: null,
  nodeId: null,
  notBefore: null,
  startedAt: null,
  firstStartedAt: null,
  finishedAt: null,
  superseded: false,
  why: null,
  errorCode: null,
  errorMessage: null,
  output: null,
  summary: null,
  usage: null,
  ...{ reported: null, isReportedSession: false },
  ...over,
})

const NOTHING_ELSE = { attempts: [], deliveries: [] }

const failedOnce: AttemptRow = {
  orgId: orgId('acme'),
  runId: runId('run_1'),
  number: 1,
  id: attemptId('att_1'),
  nodeId: 'nod_1',
  startedAt: later(NOW, 10),
  finishedAt: later(NOW, 20),
  status: 'failed',
  errorCode: 'network',
  errorMessage: 'refused',
}

const succeeded = aRun({
  state: 'success',
  attempt: 2,
  attemptId: attemptId('att_2'),
  nodeId: 'nod_1',
  startedAt: later(NOW, 2_000),
  finishedAt: later(NOW, 2_500),
  why: because('completed', 'outcome'),
})

describe('a run', () => {
  it('says how long it took and what it used', () => {
    const usage = { inputTokens: 5, costMicros: 1_500_000 }
    const payload = { text: 'a\nb', attachments: [], messageIds: ['msg_1', 'msg_2'], fields: {} }
    expect(viewRun({ ...succeeded, usage, payload })).toMatchObject({
      status: 'success',
      reason: 'completed',
      duration_ms: 500,
      usage: { input_tokens: 5, cost: 1.5 },
      message_id: 'msg_1',
      started_at: '2026-01-15T12:00:02.000Z',
    })
  })

  it('that waits has no times but its own beginning', () => {
    expect(viewRun(aRun())).toMatchObject({
      status: 'queued',
      reason: 'accepted',
      started_at: null,
      finished_at: null,
      duration_ms: null,
      usage: null,
    })
  })

  it('shows every attempt and every step', () => {
    const detail = viewRunDetail(succeeded, { attempts: [failedOnce], deliveries: [] })
    expect(detail.attempts.map(({ id, number, status }) => [id, number, status])).toEqual([
      ['att_1', 1, 'failed'],
      ['att_2', 2, 'success'],
    ])
    expect(detail.timeline.map(({ status, attempt, reason }) => [status, attempt, reason])).toEqual([
      ['queued', null, 'accepted'],
      ['running', 1, null],
      ['waiting', 1, 'retry_scheduled'],
      ['running', 2, null],
      ['success', 2, 'completed'],
    ])
    expect(detail.why.reason).toBe('completed')
  })

  it('that was skipped has one step', () => {
    const decision = because('overlap', 'overlap_action=SKIP', { previous_run: 'run_0', previous_state: 'running' })
    const skipped = aRun({ state: 'skipped', finishedAt: NOW, decision })
    expect(viewRunDetail(skipped, NOTHING_ELSE).timeline).toEqual([
      { at: '2026-01-15T12:00:00.000Z', status: 'skipped', reason: 'overlap', attempt: null },
    ])
  })

  it('in flight ends with where it is', () => {
    const stopping = aRun({
      state: 'stopping',
      attemptId: attemptId('a'),
      startedAt: NOW,
      why: because('stopped', '/stop'),
    })
    const detail = viewRunDetail(stopping, NOTHING_ELSE)
    expect(detail.timeline.at(-1)).toMatchObject({ status: 'stopping', reason: 'stopped' })
    expect(detail.attempts).toMatchObject([{ status: null, finished_at: null }])
    const why = because('lane_full', 'gate:lane', { lane: 'main', size: 1 })
    expect(viewRunDetail(aRun(), NOTHING_ELSE, why).why).toBe(why)
  })
})

describe('a task', () => {
  const task = aRun({ id: runId('tsk_1'), trigger: 'task', payload: { agentId: 'writer', action: 'click', ref: 'e5' } })

  it('speaks the words of its façade', () => {
    expect(viewTask(task, 3)).toEqual({
      taskId: 'tsk_1',
      agentId: 'writer',
      action: 'click',
      ref: 'e5',
      priority: 0,
      state: 'queued',
      deadline: null,
      createdAt: '2026-01-15T12:00:00.000Z',
      startedAt: null,
      completedAt: null,
      position: 3,
    })
  })

  it('has a result or an error, not both', () => {
    const ended = { startedAt: NOW, finishedAt: later(NOW, 7) }
    const done = viewTask({ ...task, ...ended, state: 'success', output: { ok: true } })
    expect(done).toMatchObject({ state: 'done', result: { ok: true }, latencyMs: 7 })
    expect(done).not.toHaveProperty('error')
    const failed = viewTask({ ...task, ...ended, state: 'timeout', errorMessage: 'too slow' })
    expect(failed).toMatchObject({ state: 'failed', error: 'too slow' })
    expect(failed).not.toHaveProperty('result')
    expect(viewTask({ ...task, state: 'expired', finishedAt: NOW }).error).toBe('deadline exceeded while queued')
  })
})
