import { RPC_METHODS, type RpcMethodName } from '../../server/rpc/methods.ts'
import { nearestWord } from '../../domain/nearest-word.ts'

/** The method of a name. GoClaw's document names the methods of cron without `cron.`, so those are taken too. */
export function methodNamed(name: string): RpcMethodName | null {
  return [name, `cron.${name}`].find(isMethod) ?? null
}

const isMethod = (name: string): name is RpcMethodName => Object.hasOwn(RPC_METHODS, name)

/** Verbs of other systems for what is done here under another one. */
const OTHER_VERBS: ReadonlyMap<string, string> = new Map([
  ['add', 'create'],
  ['new', 'create'],
  ['edit', 'update'],
  ['patch', 'update'],
  ['remove', 'delete'],
  ['enable', 'toggle'],
  ['disable', 'toggle'],
  ['trigger', 'run'],
  ['history', 'runs'],
])

/** The method that was probably meant by a name that is none; null: that cannot be told. */
export function methodMeant(name: string): string | null {
  const dot = name.lastIndexOf('.') + 1
  const verb = OTHER_VERBS.get(name.slice(dot))
  const meant = verb === undefined ? null : methodNamed(name.slice(0, dot) + verb)
  return meant ?? nearestWord(name, Object.keys(RPC_METHODS))
}
