import type { LightMyRequestResponse } from 'fastify'
import type { OperationSpec } from '../../src/api/operation.ts'
import { fillPath, kindOf, paramsIn } from '../server/contract/objects.ts'
import type { HttpWorld, More } from '../server/support.ts'
import type { Garden } from './plant.ts'

/** No org has anything of this name. */
const NOT_THERE = 'nobody_made_this'

/** One request of somebody from outside. */
export interface Asked {
  readonly method: OperationSpec['method']
  readonly url: string
  readonly more: More
  /** What the asker has said themselves: hearing it again is no news. */
  readonly said: readonly string[]
}

/** Somebody from outside who asks, and everything they should not have heard. */
export interface Outsider {
  readonly ask: (what: string, asked: Asked) => Promise<LightMyRequestResponse>
  /** Asks for something of another org, and for the same that is not there: nothing may tell the two apart. */
  readonly compare: (what: string, asking: (name: string) => Asked, name: string) => Promise<void>
  readonly found: string[]
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Finds everything of a garden that comes back in an answer. */
export function createOutsider(world: HttpWorld, { stamp, things }: Garden): Outsider {
  const everywhere = new Set(['main', 'nobody-made-this-token'])
  const names = Object.values(things)
    .flat()
    .filter((name) => !everywhere.has(name))
  const naming = new RegExp([...new Set(names)].map(escaped).join('|'))
  const found: string[] = []
  const statements = countStatements(world)
  const ask: Outsider['ask'] = async (what, { method, url, more, said }) => {
    const response = await world.ask(method, url, more)
    const heard = without(`${JSON.stringify(response.headers)}\n${response.body}`, said)
    if (stamp.isIn(heard)) found.push(`${what}: ${stamp.wordsIn(heard).join(', ')} in ${heard.slice(0, 500)}`)
    const named = naming.exec(heard)
    if (named !== null) found.push(`${what}: the name ${named[0]}`)
    // What is turned away at the door was not asked at all.
    if (response.statusCode >= 500 || response.statusCode === 421)
      found.push(`${what}: ${response.statusCode} ${response.body}`)
    return response
  }
  return {
    ...{ ask, found },
    compare: async (what, asking, name) => {
      const sides: string[] = []
      for (const one of [name, NOT_THERE]) {
        statements.length = 0
        const response = await ask(what, asking(one))
        sides.push(faceOf(response, one, statements))
      }
      if (sides[0] !== sides[1]) found.push(`${what}: ${sides[0] ?? ''} is not ${sides[1] ?? ''}`)
    },
  }
}

/** What an answer looks like, and what was read for it, without the name it is about. */
function faceOf({ statusCode, headers, body }: LightMyRequestResponse, name: string, read: readonly string[]): string {
  const { 'x-request-id': id, 'content-length': _length, date: _date, ...others } = headers
  const face = without(JSON.stringify([others, body]), [name]).replaceAll(String(id), '…')
  // Numbers count what the asker has made before.
  return `${statusCode} ${face.replaceAll(/\d+/g, '#')} ${read.join(';')}`
}

/** A text without what somebody has said themselves, in each of the ways in which it may be repeated. */
function without(text: string, said: readonly string[]): string {
  const forms = said.flatMap((one) => {
    const inJson = JSON.stringify(one).slice(1, -1)
    return [one, encodeURIComponent(one), inJson, JSON.stringify(inJson).slice(1, -1)]
  })
  return forms.toSorted((a, b) => b.length - a.length).reduce((rest, form) => rest.replaceAll(form, '…'), text)
}

/** Writes down each statement that is read outside of turns: who reads more for what is there is slower by that much. */
function countStatements(world: HttpWorld): string[] {
  const texts: string[] = []
  const { ports } = world.services
  const database: typeof ports.database = {
    ...ports.database,
    query: (text, params) => {
      texts.push(text)
      return ports.database.query(text, params)
    },
  }
  world.change({ ports: { ...ports, database } })
  return texts
}

/** The address of an operation with everything it names being of one garden, but for one parameter. */
export function addressOf(id: string, spec: OperationSpec, naming: (kind: string) => string): string {
  const params = paramsIn(spec.path).map((name) => [name, naming(kindOf(id, spec, name))])
  return fillPath(spec.path, Object.fromEntries(params) as Record<string, string>)
}
