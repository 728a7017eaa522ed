import type { Command } from 'commander'
import type { Page } from '../api/page.ts'
import type { ObjectSchema } from '../api/schema-fields.ts'
import type { Column } from './output/table.ts'
import { commandOf, type CliContext, remote, type CliCall, UsageError } from './remote/call.ts'
import { bodyOf, type FieldOption, type FieldValues, namesOf, valuesOf, withBody, withFields } from './remote/fields.ts'
import type { FieldNames } from './remote/refused.ts'
import { optionsOf, type Overrides } from './remote/schema-options.ts'
import { type Facts, type PageOptions, readPages, showResult, showList, showOne, withPages } from './remote/show.ts'
import { EXIT } from './terminal.ts'
import type { Client } from '../client/client.ts'

export interface VersionOptions {
  readonly ifVersion?: string
}

/** Adds `--if-version`, which refuses to overwrite a concurrent change. */
export const withVersion = (command: Command): Command =>
  command.option('--if-version <n>', 'fail unless the object has this version')

/** The `ifMatch` option of the client, from `--if-version`. */
export function ifMatch({ ifVersion }: VersionOptions): { readonly ifMatch?: number } {
  if (ifVersion === undefined) return {}
  if (!/^\d{1,15}$/.test(ifVersion))
    throw new UsageError(`Invalid --if-version "${ifVersion}". Allowed: a whole number`)
  return { ifMatch: Number(ifVersion) }
}

/** A command that lists. */
interface ListCommand<View> {
  readonly columns: (call: CliCall) => readonly Column<View>[]
  /** The message for an empty list. */
  readonly none: string
  readonly filter?: readonly FieldOption[]
  readonly read: (call: CliCall, query: FieldValues, args: readonly string[]) => Promise<Page<View>>
}

export function addList<View>(
  cli: CliContext,
  command: Command,
  { columns, none, filter = [], read }: ListCommand<View>,
): void {
  remote<PageOptions>(cli, withPages(withFields(command, filter)), {
    names: namesOf(filter),
    work: async (call, args, options) => {
      const filters = valuesOf(filter, options, call.now)
      const page = await readPages(call, options, (asked) => read(call, { ...filters, ...asked }, args))
      await showList(call, page, { columns: columns(call), none })
    },
  })
}

/** A command that shows one object. */
interface GetCommand<View, Options extends object = object> {
  readonly facts: (call: CliCall, view: View) => Facts
  readonly read: (call: CliCall, args: readonly string[], options: Options) => Promise<View>
}

export function addGet<View, Options extends object = object>(
  cli: CliContext,
  command: Command,
  { facts, read }: GetCommand<View, Options>,
): void {
  remote<Options>(cli, command, {
    work: async (call, args, options) => {
      const view = await read(call, args, options)
      await showOne(call, view, () => facts(call, view))
    },
  })
}

/** A command that creates or updates an object and shows it. */
interface WriteCommand<View, Options extends object> {
  readonly kind: 'new' | 'change'
  readonly fields: readonly FieldOption[]
  /** Names of fields that options outside `fields` set. */
  readonly names?: FieldNames
  readonly facts: (call: CliCall, view: View) => Facts
  readonly send: (call: CliCall, body: FieldValues, written: WriteArguments<Options>) => Promise<View>
  /** A hint on the next step. */
  readonly note?: (view: View, args: readonly string[]) => string
}

interface WriteArguments<Options extends object> {
  readonly args: readonly string[]
  readonly options: Options
}

export function addWrite<View, Options extends object>(
  cli: CliContext,
  command: Command,
  { kind, fields, names, facts, send, note }: WriteCommand<View, Options>,
): void {
  remote<Options>(cli, withBody(command, fields, kind), {
    names: { ...namesOf(fields), ...names },
    work: async (call, args, options) => {
      const view = await send(call, await bodyOf(call.terminal, fields, options), { args, options })
      await showOne(call, view, () => facts(call, view))
      if (note !== undefined) await call.note(`${note(view, args)}\n`)
    },
  })
}

/** A command that performs an action and prints its result as a sentence. */
interface ActionCommand<Answer, Options extends object> {
  readonly call: (call: CliCall, args: readonly string[], options: Options) => Promise<Answer>
  /** `id` is the last argument. */
  readonly resultText: (answer: Answer, id: string) => string
  /** Whether the action succeeded; left out: always. */
  readonly isSuccess?: (answer: Answer) => boolean
}

export function addAction<Answer, Options extends object = object>(
  cli: CliContext,
  command: Command,
  { call, resultText, isSuccess: isDone = () => true }: ActionCommand<Answer, Options>,
): void {
  remote<Options>(cli, command, {
    work: async (ctx, args, options) => {
      const answer = await call(ctx, args, options)
      await showResult(ctx, answer, resultText(answer, args.at(-1) ?? ''))
      return isDone(answer) ? EXIT.ok : EXIT.refused
    },
  })
}

/** The operations of a resource. Bodies are untyped, because the server validates them with better messages. */
interface ResourceOperations<View, Made> {
  readonly list: (query: never) => Promise<Page<View>>
  readonly get: (id: string) => Promise<View>
  readonly create: (body: never) => Promise<Made>
  readonly update: (id: string, body: never, options?: { readonly ifMatch?: number }) => Promise<View>
  readonly delete: (id: string, options?: { readonly ifMatch?: number }) => Promise<unknown>
}

type Verb = 'list' | 'get' | 'create' | 'update' | 'delete'

/** Options that set more than one field, and how they change the body. */
interface ExtraOptions<Options extends object> {
  readonly options: (command: Command, kind: 'new' | 'change') => Command
  readonly names?: FieldNames
  /** `changed` is the id of the updated object; null: it is created. */
  readonly body: (
    call: CliCall,
    body: FieldValues,
    written: { readonly changed: string | null; readonly options: Options },
  ) => Promise<FieldValues>
}

/** A resource with list, get, create, update and delete. */
interface Resource<View, Made extends View, Options extends object> {
  readonly operations: (client: Client) => ResourceOperations<View, Made>
  /** With its article: `a target`. */
  readonly singular: string
  /** The name of the argument that identifies one; left out: `id`. */
  readonly key?: string
  readonly input: ObjectSchema
  readonly patch: ObjectSchema
  /** Options that differ from their fields. */
  readonly flags?: Overrides
  readonly filter?: readonly FieldOption[]
  readonly columns: ListCommand<View>['columns']
  readonly none?: string
  readonly facts: GetCommand<View>['facts']
  /** What to show of a new object beside its facts. */
  readonly created?: {
    readonly facts?: (call: CliCall, created: Made) => Facts
    readonly note?: (created: Made) => string
  }
  /** It has a version, so that update and delete take `--if-version`. */
  readonly isVersioned?: true
  readonly extra?: ExtraOptions<Options>
  /** Descriptions that say more than the verb and the resource. */
  readonly descriptions?: Readonly<Partial<Record<Verb, string>>>
}

/** Adds list, get, create, update and delete. */
export function addResource<View, Made extends View = View, Options extends object = object>(
  group: Command,
  cli: CliContext,
  resource: Resource<View, Made, Options>,
): void {
  const {
    singular,
    key = 'id',
    descriptions: about = {},
    operations,
    columns,
    facts,
    filter,
    none = `No ${group.name()}.`,
  } = resource
  addList(cli, commandOf(group, 'list', about.list ?? `list ${group.name()}`), {
    columns,
    none,
    ...(filter === undefined ? {} : { filter }),
    read: (call, query) => operations(call.client).list(query as never),
  })
  addGet(cli, commandOf(group, `get <${key}>`, about.get ?? `show ${singular}`), {
    facts,
    read: (call, [id = '']) => operations(call.client).get(id),
  })
  addCreate(group, cli, resource)
  addUpdate(group, cli, resource)
  const deleteCommand = commandOf(group, `delete <${key}>`, about.delete ?? `delete ${singular}`)
  addAction<object, VersionOptions>(cli, resource.isVersioned ? withVersion(deleteCommand) : deleteCommand, {
    call: async (call, [id = ''], options) => {
      await operations(call.client).delete(id, ifMatch(options))
      return { [key]: id, deleted: true }
    },
    resultText: (_, id) => `Deleted ${id}.`,
  })
}

function addCreate<View, Made extends View, Options extends object>(
  group: Command,
  cli: CliContext,
  {
    singular,
    descriptions: about = {},
    operations,
    facts,
    input,
    flags,
    extra,
    created,
  }: Resource<View, Made, Options>,
): void {
  const command = commandOf(group, 'create', about.create ?? `create ${singular}`)
  addWrite<Made, Options>(cli, extra?.options(command, 'new') ?? command, {
    kind: 'new',
    fields: optionsOf(input, flags),
    names: extra?.names ?? {},
    facts: (call, view) => [...facts(call, view), ...(created?.facts?.(call, view) ?? [])],
    send: async (call, body, { options }) =>
      operations(call.client).create(((await extra?.body(call, body, { changed: null, options })) ?? body) as never),
    ...(created?.note === undefined ? {} : { note: created.note }),
  })
}

function addUpdate<View, Made extends View, Options extends object>(
  group: Command,
  cli: CliContext,
  {
    singular,
    key = 'id',
    descriptions: about = {},
    operations,
    facts,
    patch,
    flags,
    extra,
    isVersioned,
  }: Resource<View, Made, Options>,
): void {
  const updateCommand = commandOf(group, `update <${key}>`, about.update ?? `update ${singular}`)
  const command = isVersioned ? withVersion(updateCommand) : updateCommand
  addWrite<View, Options & VersionOptions>(cli, extra?.options(command, 'change') ?? command, {
    kind: 'change',
    fields: optionsOf(patch, flags),
    names: extra?.names ?? {},
    facts,
    send: async (call, body, { args: [id = ''], options }) => {
      const change = (await extra?.body(call, body, { changed: id, options })) ?? body
      return operations(call.client).update(id, change as never, ifMatch(options))
    },
  })
}
