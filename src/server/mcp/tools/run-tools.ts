import { z } from 'zod'
import type { RunView } from '../../../features/runs/schema.ts'
import { anyObject, givenMoment, id } from '../../../api/common.ts'
import { taskItemFields as task, type TaskReceipt } from '../../../features/tasks/schema.ts'
import type { StopAnswer } from '../../../features/sessions/schema.ts'

import { asking, READS, tool } from './tool.ts'

const runId = id.describe('The id of a run, as "run_…", or of a task')

/** What is told of an explanation, of a run or of a moment of a schedule alike. */
interface Explanation {
  readonly sentence: string
  readonly run_id: string | null
  readonly status: string | null
  readonly reason: string
  readonly rule: string
  readonly evidence: Readonly<Record<string, unknown>>
  /** What happens next by itself, and what can be done. */
  readonly next: { readonly sentence: string }
}

const runExplain = tool({
  title: 'Explain a run, or why there was none',
  description: [
    'Says in a sentence why a run is where it is or ended as it did, by which rule and on what evidence.',
    'Give `run_id`; or `schedule_id` and `at` to ask why a schedule did, did not, or will not run at a moment, as in "why did nothing happen at 09:00?".',
    'Examples: {"run_id": "run_…"}; {"schedule_id": "sch_…", "at": "2030-05-01T09:00:00+02:00"}.',
  ].join(' '),
  input: z
    .strictObject({ run_id: runId.optional(), schedule_id: id.optional(), at: givenMoment.optional() })
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
  hints: READS,
  synonyms: { task_id: 'run_id' },
  ask: ({ run_id: run, schedule_id: schedule = '', at = '' }) =>
    run === undefined
      ? asking('schedules.explain', { params: { id: schedule }, query: { at } })
      : asking('runs.explain', { params: { id: run } }),
  tell: (told: Explanation) => {
    const { sentence, run_id, status, reason, rule, evidence } = told
    const next = told.next.sentence
    const text = `${sentence}\n${next}`
    return { structured: { sentence, next, run_id, status, reason, rule, evidence: { ...evidence } }, text }
  },
})

const taskSubmit = tool({
  title: 'Hand in a task',
  description: [
    'Hands one piece of work to an agent, to be done as soon as there is room; answers at once with its id.',
    'Use it for work that is to happen now and once. For later or repeated work, use schedule_create.',
    '`action` says what to do; `params` are what the agent needs for it. `deadline` covers waiting and working: 60 seconds from now unless given.',
    'Lower `priority` is served first. Example: {"agent_id": "writer", "action": "summarise", "params": {"text": "…"}}.',
    'Read what became of it with run_explain, whose `run_id` is the id of the task.',
  ].join(' '),
  input: z.strictObject({
    agent_id: id.describe('Who does it'),
    action: task.action.describe('What is to be done, in the words that the agent knows'),
    params: task.params.describe('What the agent needs for it'),
    tab_id: task.tabId.describe('For an agent that acts in a browser: the tab'),
    selector: task.selector.describe('For an agent that acts in a browser: the element'),
    ref: task.ref.describe('For an agent that acts in a browser: the reference of the element'),
    priority: task.priority.describe('0 unless given; lower goes first'),
    deadline: task.deadline.describe('RFC 3339; it expires when it has not ended by then'),
  }),
  output: z.strictObject({ task_id: z.string(), state: z.string(), position: z.int() }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  synonyms: { agentId: 'agent_id', tabId: 'tab_id' },
  ask: ({ agent_id: agentId, tab_id: tabId, ...rest }) => asking('tasks.submit', { body: { ...rest, agentId, tabId } }),
  tell: ({ taskId, state, position }: TaskReceipt) => ({
    structured: { task_id: taskId, state, position },
    text: `Task ${taskId} is ${state}${position > 0 ? `, at place ${position}` : ''}.`,
  }),
})

const stop = tool({
  title: 'Stop work',
  description: [
    'Stops work. With `session`: the oldest active run of that conversation, and with `all` everything in it, what waits included.',
    'With `run_id`: that run or task. Schedules go on; to stop one for good, use schedule_update with {"enabled": false}.',
    'Examples: {"session": "agent:writer:web:user:42", "all": true}; {"run_id": "run_…"}.',
  ].join(' '),
  input: z
    .strictObject({
      session: id.optional().describe('The key of a session'),
      all: z.boolean().optional().describe('Everything in the session, not only the oldest active run'),
      run_id: runId.optional(),
    })
    .refine(({ session, run_id }) => (session === undefined) !== (run_id === undefined), {
      message: 'is missing; give session or run_id, and not both',
      path: ['session'],
    }),
  output: z.strictObject({ stopped: z.int(), drained: z.int() }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  synonyms: { key: 'session', task_id: 'run_id' },
  ask: ({ session = '', all, run_id: run }) =>
    run === undefined
      ? asking(all === true ? 'sessions.stopAll' : 'sessions.stop', { params: { key: session } })
      : asking('runs.cancel', { params: { id: run } }),
  tell: (answer: StopAnswer | RunView) => {
    const structured =
      'stopped' in answer ? { stopped: answer.stopped, drained: answer.drained } : { stopped: 1, drained: 0 }
    const { stopped, drained } = structured
    return { structured, text: `Stopped ${stopped}, and ${drained} that ${drained === 1 ? 'was' : 'were'} waiting.` }
  },
})

/** The tools that act on work. */
export const RUN_TOOLS = { run_explain: runExplain, task_submit: taskSubmit, stop }
