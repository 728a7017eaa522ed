import type { Command } from 'commander'
import type { Client } from '../client/client.ts'
import type { Page } from '../api/page.ts'
import type { ObjectSchema } from '../api/schema-fields.ts'
import { ifMatch, withVersion, type VersionOptions } from './commands/versions.ts'
import type { Column } from './output/table.ts'
import { bodyOf, namesOf, valuesOf, withBody, withFields, type FieldOption, type FieldValues } from './remote/fields.ts'
import type { FieldNames } from './remote/refused.ts'
import { optionsOf, type Overrides } from './remote/schema-options.ts'
import { readPages, showDone, showList, showOne, withPages, type Facts, type PageOptions } from './remote/show.ts'
import { commandOf, remote, type Desk, type Talk } from './remote/talk.ts'
import { EXIT } from './terminal.ts'

/** A command that lists. */
export interface Listing<View> {
  readonly columns: (talk: Talk) => readonly Column<View>[]
  /** What to say, and to do, when there is nothing. */
  readonly none: string
  readonly filter?: readonly FieldOption[]
  readonly read: (talk: Talk, query: FieldValues, args: readonly string[]) => Promise<Page<View>>
}

export function addList<View>(desk: Desk, command: Command, { columns, none, filter = [], read }: Listing<View>): void {
  remote<PageOptions>(desk, withPages(withFields(command, filter)), {
    names: namesOf(filter),
    work: async (talk, args, options) => {
      const wanted = valuesOf(filter, options, talk.now)
      const page = await readPages(talk, options, (asked) => read(talk, { ...wanted, ...asked }, args))
      await showList(talk, page, { columns: columns(talk), none })
    },
  })
}

/** A command that shows one. */
export interface Showing<View> {
  readonly facts: (talk: Talk, view: View) => Facts
  readonly read: (talk: Talk, args: readonly string[]) => Promise<View>
}

export function addGet<View>(desk: Desk, command: Command, { facts, read }: Showing<View>): void {
  remote(desk, command, {
    work: async (talk, args) => {
      const view = await read(talk, args)
      await showOne(talk, view, () => facts(talk, view))
    },
  })
}

/** A command that creates or changes one, and shows it. */
export interface Writing<View, Options extends object> {
  readonly kind: 'new' | 'change'
  readonly fields: readonly FieldOption[]
  /** Of fields that have other options. */
  readonly names?: FieldNames
  readonly facts: (talk: Talk, view: View) => Facts
  readonly send: (talk: Talk, body: FieldValues, given: Given<Options>) => Promise<View>
  /** What to do next. */
  readonly note?: (view: View, args: readonly string[]) => string
}

export interface Given<Options extends object> {
  readonly args: readonly string[]
  readonly options: Options
}

export function addWrite<View, Options extends object>(
  desk: Desk,
  command: Command,
  { kind, fields, names, facts, send, note }: Writing<View, Options>,
): void {
  remote<Options>(desk, withBody(command, fields, kind), {
    names: { ...namesOf(fields), ...names },
    work: async (talk, args, options) => {
      const view = await send(talk, await bodyOf(talk.terminal, fields, options), { args, options })
      await showOne(talk, view, () => facts(talk, view))
      if (note !== undefined) await talk.note(`${note(view, args)}\n`)
    },
  })
}

/** A command that does something, and says in a sentence what came of it. */
export interface Action<Answer, Options extends object> {
  readonly call: (talk: Talk, args: readonly string[], options: Options) => Promise<Answer>
  /** `id` is the last argument. */
  readonly say: (answer: Answer, id: string) => string
  /** Whether it did what it was asked for; it does unless given. */
  readonly isDone?: (answer: Answer) => boolean
}

export function addAction<Answer, Options extends object = object>(
  desk: Desk,
  command: Command,
  { call, say, isDone = () => true }: Action<Answer, Options>,
): void {
  remote<Options>(desk, command, {
    work: async (talk, args, options) => {
      const answer = await call(talk, args, options)
      await showDone(talk, answer, say(answer, args.at(-1) ?? ''))
      return isDone(answer) ? EXIT.ok : EXIT.refused
    },
  })
}

/** The operations of a resource. The server says what is wrong with a body, with better words than a compiler. */
export interface Operations<View, Made> {
  readonly list: (query: never) => Promise<Page<View>>
  readonly get: (id: string) => Promise<View>
  readonly create: (body: never) => Promise<Made>
  readonly update: (id: string, body: never, options?: { readonly ifMatch?: number }) => Promise<View>
  readonly delete: (id: string, options?: { readonly ifMatch?: number }) => Promise<unknown>
}

type Verb = 'list' | 'get' | 'create' | 'update' | 'delete'

/** Options that stand for more than one field, and what they do to the body. */
export interface Extra<Options extends object> {
  readonly options: (command: Command, kind: 'new' | 'change') => Command
  readonly names?: FieldNames
  /** `changed` is the id of what is changed; null: it is new. */
  readonly body: (
    talk: Talk,
    body: FieldValues,
    given: { readonly changed: string | null; readonly options: Options },
  ) => Promise<FieldValues>
}

/** A resource with its plain commands. */
export interface Resource<View, Made extends View, Options extends object> {
  readonly operations: (client: Client) => Operations<View, Made>
  /** With its article: `a target`. */
  readonly one: string
  /** What names one; its id unless given. */
  readonly key?: string
  readonly input: ObjectSchema
  readonly patch: ObjectSchema
  /** Where options differ from their fields. */
  readonly flags?: Overrides
  readonly filter?: readonly FieldOption[]
  readonly columns: Listing<View>['columns']
  readonly none?: string
  readonly facts: Showing<View>['facts']
  /** What is shown, and said, of a new one beside the facts. */
  readonly made?: { readonly facts?: (talk: Talk, made: Made) => Facts; readonly note?: (made: Made) => string }
  /** It has a version: `--if-version` changes it only as long as it still is that one. */
  readonly isVersioned?: true
  readonly extra?: Extra<Options>
  /** Where there is more to say than the verb and what it is about. */
  readonly about?: Readonly<Partial<Record<Verb, string>>>
}

/** Adds list, get, create, update and delete. */
export function addResource<View, Made extends View = View, Options extends object = object>(
  group: Command,
  desk: Desk,
  resource: Resource<View, Made, Options>,
): void {
  const { one, key = 'id', about = {}, operations, columns, facts, filter, none = `No ${group.name()}.` } = resource
  addList(desk, commandOf(group, 'list', about.list ?? `list ${group.name()}`), {
    columns,
    none,
    ...(filter === undefined ? {} : { filter }),
    read: (talk, query) => operations(talk.client).list(query as never),
  })
  addGet(desk, commandOf(group, `get <${key}>`, about.get ?? `show ${one}`), {
    facts,
    read: (talk, [id = '']) => operations(talk.client).get(id),
  })
  addCreate(group, desk, resource)
  addUpdate(group, desk, resource)
  const remove = commandOf(group, `delete <${key}>`, about.delete ?? `delete ${one}`)
  addAction<object, VersionOptions>(desk, resource.isVersioned ? withVersion(remove) : remove, {
    call: async (talk, [id = ''], options) => {
      await operations(talk.client).delete(id, ifMatch(options))
      return { [key]: id, deleted: true }
    },
    say: (_, id) => `${id} is deleted.`,
  })
}

function addCreate<View, Made extends View, Options extends object>(
  group: Command,
  desk: Desk,
  { one, about = {}, operations, facts, input, flags, extra, made }: Resource<View, Made, Options>,
): void {
  const command = commandOf(group, 'create', about.create ?? `create ${one}`)
  addWrite<Made, Options>(desk, extra?.options(command, 'new') ?? command, {
    kind: 'new',
    fields: optionsOf(input, flags),
    names: extra?.names ?? {},
    facts: (talk, view) => [...facts(talk, view), ...(made?.facts?.(talk, view) ?? [])],
    send: async (talk, body, { options }) =>
      operations(talk.client).create(((await extra?.body(talk, body, { changed: null, options })) ?? body) as never),
    ...(made?.note === undefined ? {} : { note: made.note }),
  })
}

function addUpdate<View, Made extends View, Options extends object>(
  group: Command,
  desk: Desk,
  { one, key = 'id', about = {}, operations, facts, patch, flags, extra, isVersioned }: Resource<View, Made, Options>,
): void {
  const begun = commandOf(group, `update <${key}>`, about.update ?? `update ${one}`)
  const command = isVersioned ? withVersion(begun) : begun
  addWrite<View, Options & VersionOptions>(desk, extra?.options(command, 'change') ?? command, {
    kind: 'change',
    fields: optionsOf(patch, flags),
    names: extra?.names ?? {},
    facts,
    send: async (talk, body, { args: [id = ''], options }) => {
      const change = (await extra?.body(talk, body, { changed: id, options })) ?? body
      return operations(talk.client).update(id, change as never, ifMatch(options))
    },
  })
}
