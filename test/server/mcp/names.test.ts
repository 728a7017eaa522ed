import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Tool } from '../../../src/server/mcp/tools/tool.ts'
import { TOOLS } from '../../../src/server/mcp/tools/tools.ts'
import type { OperationSpec } from '../../../src/api/operation.ts'
import { OPERATIONS } from '../../../src/operations/table.ts'
import { createHttpWorld, type HttpWorld } from '../support.ts'
import { connect, HANDSHAKE, type McpGuest } from './support.ts'

// Tools and the API call the same thing by the same name. What a path has as `id` or `key` has, as an argument among
// others, the name that the API gives it in bodies, queries and answers.

const IN_PATHS: Readonly<Record<string, string>> = {
  'schedules id': 'schedule_id',
  'runs id': 'run_id',
  'sessions key': 'session',
}

/** Arguments that choose between two operations, and are part of neither. */
const CHOOSING = ['stop all']

/** What a tool says and its operation does not: a deletion answers nothing, and of a payload only the prompt is told. */
const SAID_BY_TOOLS = [
  ...['schedule_delete id', 'schedule_delete deleted', 'run_now outcome', 'task_submit outcome'],
  ...told('prompt'),
]

function told(field: string): readonly string[] {
  return ['schedule_create', 'schedule_list', 'schedule_update'].map((name) => `${name} ${field}`)
}

type Schema = Readonly<Record<string, unknown>>

const tools = Object.entries(TOOLS as Readonly<Record<string, Tool>>)
const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const described = (schema: z.ZodType, io: 'input' | 'output'): Schema =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any' })

/** The fields of an object, or of the things that a page lists. */
function fieldsOf(schema: z.ZodType): readonly string[] {
  const whole = described(schema, 'output')
  const resolved = ({ $ref, ...rest }: Schema): Schema =>
    typeof $ref === 'string' ? ((whole['$defs'] as Record<string, Schema>)[$ref.split('/').at(-1) ?? ''] ?? {}) : rest
  const properties = (of: Schema): Readonly<Record<string, Schema>> =>
    (resolved(of)['properties'] ?? {}) as Readonly<Record<string, Schema>>
  const top = properties(whole)
  const items = top['items'] === undefined ? undefined : (resolved(top['items'])['items'] as Schema | undefined)
  return [...Object.keys(top), ...(items === undefined ? [] : Object.keys(properties(items)))]
}

const argumentsOf = ({ input }: Tool): readonly string[] => Object.keys(described(input, 'input')['properties'] ?? {})

const MARK = 'the mark'

/** Under which name, and where, an operation is given what a tool was given as this argument. */
function landingOf(tool: Tool, argument: string): readonly string[] {
  const { operation, ...parts } = tool.toRequest({ [argument]: MARK })
  const found: string[] = []
  const walk = (value: unknown, path: readonly string[]): void => {
    if (value === MARK) found.push(nameAt(operation, path))
    else if (typeof value === 'object' && value !== null)
      for (const [name, part] of Object.entries(value)) walk(part, [...path, name])
  }
  walk(parts, [])
  return found
}

function nameAt(operation: string, path: readonly string[]): string {
  const name = path.at(-1) ?? ''
  return path[0] === 'params' ? (IN_PATHS[`${operation.split('.')[0] ?? ''} ${name}`] ?? name) : snake(name)
}

/** The operations that a tool can ask for. */
const operationsOf = (tool: Tool): readonly string[] => [
  ...new Set(argumentsOf(tool).map((argument) => tool.toRequest({ [argument]: MARK }).operation)),
]

describe('names', () => {
  it.each(tools)('%s takes every argument under the name that its operation has for it', (name, tool) => {
    for (const argument of argumentsOf(tool).filter((one) => !CHOOSING.includes(`${name} ${one}`)))
      expect([argument, landingOf(tool, argument)]).toEqual([argument, [argument]])
  })

  it.each(tools)('%s tells every field under the name that its operation has for it', (name, tool) => {
    const answers = operationsOf(tool).flatMap((id) => {
      const spec = (OPERATIONS as Readonly<Record<string, OperationSpec>>)[id]
      return Object.values(spec?.answers ?? {}).flatMap((answer) =>
        answer instanceof z.ZodType ? fieldsOf(answer) : [],
      )
    })
    const known = new Set(answers.map(snake))
    const unknown = fieldsOf(tool.output).filter((field) => !known.has(field))
    expect(unknown.filter((field) => !SAID_BY_TOOLS.includes(`${name} ${field}`))).toEqual([])
  })

  it.each(tools)('%s has synonyms for what it lists, and lists none', (_name, tool) => {
    const listed = argumentsOf(tool)
    for (const [synonym, argument] of Object.entries(tool.synonyms ?? {})) {
      expect(listed).toContain(argument)
      expect(listed).not.toContain(synonym)
    }
  })
})

describe('other names', () => {
  let world: HttpWorld
  let guest: McpGuest
  beforeAll(async () => {
    world = await createHttpWorld()
    guest = await connect(world, 'owner', HANDSHAKE)
  })
  afterAll(() => world.close())

  it('of an argument are taken, and two at once are refused', async () => {
    const { structured } = await guest.call('schedule_create', { name: 'Look', every_seconds: 3_600, prompt: 'x' })
    const id = String(structured['id'])
    expect((await guest.call('schedule_list', { id })).structured).toMatchObject({ items: [{ id }] })
    expect((await guest.call('schedule_update', { id, name: 'Renamed' })).structured).toMatchObject({ name: 'Renamed' })
    expect((await guest.call('run_now', { id })).structured).toMatchObject({ ran: true })
    expect(await guest.refused('schedule_delete', { id, schedule_id: id })).toMatchObject({
      code: 'VALIDATION',
      errors: [{ pointer: '/id', message: 'and schedule_id mean the same; give only schedule_id' }],
    })
    expect((await guest.call('schedule_delete', { id })).structured).toEqual({ id, deleted: true })

    const handed = await guest.call('task_submit', { agentId: 'writer', action: 'summarise' })
    const { task_id: task } = handed.structured
    expect((await guest.call('run_explain', { task_id: task })).structured).toMatchObject({ run_id: task })
    expect((await guest.call('stop', { task_id: task })).structured).toMatchObject({ stopped: 1 })
    expect((await guest.call('stop', { key: 'agent:writer:web:user:1' })).structured).toMatchObject({ stopped: 0 })
  })
})
