import type { LightMyRequestResponse } from 'fastify'
import { expect } from 'vitest'
import {
  task,
  taskBatchReceipt,
  taskError,
  taskList,
  taskReceipt,
  taskStats,
  type TaskBatchReceipt,
  type TaskError,
  type TaskList,
  type TaskReceipt,
  type TaskStats,
  type TaskView,
} from '../../src/features/tasks/schema.ts'

import type { Handler } from '../../src/executors/in-process/execute.ts'
import { DEFAULT_SETTINGS, parseSettings, type EngineSettings } from '../../src/features/config/settings.ts'
import { createStage, type Stage } from '../scenarios/stage.ts'
import { createLiveWorld, type LiveWorld } from './live.ts'
import type { More } from './support.ts'

/** A node whose agents are functions, and a client that knows PinchTab's scheduler and nothing of Escapement. */
export interface TasksWorld {
  readonly live: LiveWorld
  readonly stage: Stage
  readonly client: TasksClient
  /** Changes settings, as a reload does. */
  readonly reload: (change: Readonly<Record<string, unknown>>) => void
  readonly close: () => Promise<void>
}

/** What a client of PinchTab's scheduler does. Every answer is held to its shape. */
export interface TasksClient {
  readonly submit: (task: object, more?: More) => Promise<TaskReceipt>
  readonly batch: (batch: object, more?: More) => Promise<TaskBatchReceipt>
  readonly get: (id: string) => Promise<TaskView>
  readonly list: (query?: string) => Promise<TaskList>
  readonly stats: (more?: More) => Promise<TaskStats>
  /** Polls until the task is in one of the states. */
  readonly until: (id: string, ...states: readonly string[]) => Promise<TaskView>
}

export async function createTasksWorld(
  settings: Readonly<Record<string, unknown>> = {},
  more: Readonly<Record<string, Handler>> = {},
): Promise<TasksWorld> {
  let current = changed(DEFAULT_SETTINGS, settings)
  const stage = createStage()
  const agents = { a: stage.handler, b: stage.handler, ...more }
  const live = await createLiveWorld(agents, { settings: () => current })
  return {
    ...{ live, stage, client: createTasksClient(live) },
    reload: (change) => {
      current = changed(current, change)
      live.engine.parts.lanes.resize(current.lanes.byName)
      for (const office of live.engine.parts.actors.values()) office.refresh()
    },
    close: live.close,
  }
}

function changed(settings: EngineSettings, change: Readonly<Record<string, unknown>>): EngineSettings {
  const read = parseSettings(change, settings)
  if (!read.ok) throw new Error(JSON.stringify(read.flaws))
  return read.value
}

function createTasksClient({ ask }: Pick<LiveWorld, 'ask'>): TasksClient {
  const answered = (response: LightMyRequestResponse, status: number): unknown => {
    expect(response.statusCode, response.body).toBe(status)
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    return response.json()
  }
  const get: TasksClient['get'] = async (id) => task.parse(answered(await ask('GET', `/tasks/${id}`), 200))
  return {
    get,
    submit: async (body, more) => taskReceipt.parse(answered(await ask('POST', '/tasks', { body, ...more }), 202)),
    batch: async (body, more) =>
      taskBatchReceipt.parse(answered(await ask('POST', '/tasks/batch', { body, ...more }), 202)),
    list: async (query = '') => taskList.parse(answered(await ask('GET', `/tasks${query}`), 200)),
    stats: async (more) => taskStats.parse(answered(await ask('GET', '/scheduler/stats', more), 200)),
    until: async (id, ...states) => {
      await expect
        .poll(async () => (await get(id)).state, { timeout: 10_000, interval: 10 })
        .toSatisfy((state) => states.includes(state as string))
      return get(id)
    },
  }
}

/** What was refused, in the shape of the façade and in no other. */
export function errorIn(response: LightMyRequestResponse, status: number, code: string): TaskError {
  expect(response.statusCode, response.body).toBe(status)
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  const told = taskError.parse(response.json())
  expect(told.code).toBe(code)
  expect(told.error).not.toBe('')
  return told
}

/** The fields that a task was refused for, as pointers. */
export const pointersOf = ({ details }: TaskError): readonly string[] =>
  ((details?.['errors'] ?? []) as readonly { readonly pointer: string }[]).map(({ pointer }) => pointer)

/** How many runs are on record. */
export async function countRuns({ live }: TasksWorld): Promise<number> {
  const [row] = await live.engine.ports.database.query('select count(*) as count from run', [])
  return row?.['count'] as number
}
