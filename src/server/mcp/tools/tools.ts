import { z } from 'zod'
import type { RunView } from '../../../features/runs/schema.ts'
import { anyObject, plainTimeInput, id } from '../../../api/common.ts'
import { taskItemFields as task, type TaskReceipt } from '../../../features/tasks/schema.ts'
import type { StopAnswer } from '../../../features/sessions/schema.ts'
import { SCHEDULE_TOOLS } from './schedule-tools.ts'
import { toolRequest, READ_ONLY_HINTS, type Tool, tool } from './tool.ts'

const runId = id.describe('The id of a run, such as "run_…", or of a task')

/** The explanation of a run or of an occurrence of a schedule. */
interface Explanation {
  readonly sentence: string
  readonly run_id: string | null
  readonly status: string | null
  readonly reason: string
  readonly rule: string
  readonly evidence: Readonly<Record<string, unknown>>
  /** What happens next, and what can be done. */
  readonly next: { readonly sentence: string }
}

const runExplain = tool({
  title: 'Explain why a run did or did not happen',
  description: [
    'Explain in a sentence why a run is in its state or ended as it did, by which rule and on what evidence.',
    'Pass `run_id`; or `schedule_id` and `at` to ask why a schedule did, did not, or will not run at that time, for example "why did nothing run at 09:00?".',
    'Examples: {"run_id": "run_…"}; {"schedule_id": "sch_…", "at": "2030-05-01T09:00:00+02:00"}.',
  ].join(' '),
  input: z
    .strictObject({ run_id: runId.optional(), schedule_id: id.optional(), at: plainTimeInput.optional() })
    .refine(
      ({ run_id, schedule_id, at }) => (run_id === undefined) === (schedule_id !== undefined && at !== undefined),
      {
        message: 'is missing; give run_id, or schedule_id and at',
        path: ['run_id'],
      },
    ),
  output: z.strictObject({
    sentence: z.string(),
    next: z.string().describe('What happens next, or what can be done'),
    run_id: z.string().nullable(),
    status: z.string().nullable(),
    reason: z.string(),
    rule: z.string(),
    evidence: anyObject,
  }),
  hints: READ_ONLY_HINTS,
  synonyms: { task_id: 'run_id' },
  toRequest: ({ run_id: run, schedule_id: schedule = '', at = '' }) =>
    run === undefined
      ? toolRequest('schedules.explain', { params: { id: schedule }, query: { at } })
      : toolRequest('runs.explain', { params: { id: run } }),
  toOutput: (explanation: Explanation) => {
    const { sentence, run_id, status, reason, rule, evidence } = explanation
    const next = explanation.next.sentence
    const text = `${sentence}\n${next}`
    return { structured: { sentence, next, run_id, status, reason, rule, evidence: { ...evidence } }, text }
  },
})

const taskSubmit = tool({
  title: 'Submit a task',
  description: [
    'Submit a task to an agent, to run as soon as a slot is free; returns its id at once.',
    'For later or repeated work, use schedule_create.',
    '`action` says what to do; `params` are its parameters. `deadline` covers waiting and execution: 60 seconds from now by default.',
    'A lower `priority` runs first. Example: {"agent_id": "writer", "action": "summarize", "params": {"text": "…"}}.',
    'Check it with run_explain: pass the task id as `run_id`.',
  ].join(' '),
  input: z.strictObject({
    agent_id: id.describe('The agent that runs it'),
    action: task.action.describe('An action that the agent knows'),
    params: task.params.describe('Parameters of the action'),
    tab_id: task.tabId.describe('For agents in a browser: the tab'),
    selector: task.selector.describe('For agents in a browser: the element'),
    ref: task.ref.describe('For agents in a browser: reference of the element'),
    priority: task.priority.describe('0 by default; lower runs first'),
    deadline: task.deadline.describe('RFC 3339; the task expires then'),
  }),
  // The outcome is in the result of a task. Without its fields, because the list of tools should be short.
  output: z.strictObject({
    task_id: z.string(),
    state: z.string(),
    position: z.int().nullable(),
    outcome: z.unknown().optional(),
  }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  synonyms: { agentId: 'agent_id', tabId: 'tab_id' },
  toRequest: ({ agent_id: agentId, tab_id: tabId, ...rest }) =>
    toolRequest('tasks.submit', { body: { ...rest, agentId, tabId } }),
  runOf: ({ taskId }: TaskReceipt) => taskId,
  toOutput: ({ taskId, state, position }: TaskReceipt) => ({
    structured: { task_id: taskId, state, position },
    text: `Task ${taskId} is ${state}${position === null || position === 0 ? '' : `, at position ${position}`}.`,
  }),
})

const stopRuns = tool({
  title: 'Stop runs',
  description: [
    'Stop runs. With `session`: the oldest active run of that session; with `all` as well: all its runs, including waiting ones.',
    'With `run_id`: that run or task. Schedules continue; to stop one permanently, use schedule_update with {"enabled": false}.',
    'Examples: {"session": "agent:writer:web:user:42", "all": true}; {"run_id": "run_…"}.',
  ].join(' '),
  input: z
    .strictObject({
      session: id.optional().describe('The key of a session'),
      all: z.boolean().optional().describe('Stop all runs of the session, not only the oldest active one'),
      run_id: runId.optional(),
    })
    .refine(({ session, run_id }) => (session === undefined) !== (run_id === undefined), {
      message: 'is missing; give session or run_id, not both',
      path: ['session'],
    }),
  output: z.strictObject({ stopped: z.int(), drained: z.int() }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  synonyms: { key: 'session', task_id: 'run_id' },
  toRequest: ({ session = '', all, run_id: run }) =>
    run === undefined
      ? toolRequest(all === true ? 'sessions.stopAll' : 'sessions.stop', { params: { key: session } })
      : toolRequest('runs.cancel', { params: { id: run } }),
  toOutput: (answer: StopAnswer | RunView) => {
    const structured =
      'stopped' in answer ? { stopped: answer.stopped, drained: answer.drained } : { stopped: 1, drained: 0 }
    const { stopped, drained } = structured
    return { structured, text: `Stopped ${stopped} active and ${drained} waiting ${drained === 1 ? 'run' : 'runs'}.` }
  },
})

/** Every tool of the MCP server, over stdio and at /mcp, in listing order. */
export const TOOLS = {
  ...SCHEDULE_TOOLS,
  run_explain: runExplain,
  task_submit: taskSubmit,
  stop: stopRuns,
} satisfies Readonly<Record<string, Tool>>

export type ToolName = keyof typeof TOOLS

/** The tool of that name; undefined if there is none. */
export const findTool = (name: string): Tool | undefined =>
  Object.hasOwn(TOOLS, name) ? (TOOLS as Readonly<Record<string, Tool>>)[name] : undefined
