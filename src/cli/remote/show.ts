import type { Command } from 'commander'
import type { Page } from '../../api/page.ts'
import { type Column, renderFacts, renderTable } from '../output/table.ts'
import { type CliCall, UsageError } from './call.ts'
import { seconds } from './fields.ts'
import { instant } from '../../domain/instant.ts'
import { addAll } from '../../domain/long-lists.ts'

/** The longest wait the server allows. */
export const MAX_WAIT_SECONDS = 300

export interface WaitOptions {
  readonly wait?: string | boolean
}

/** Adds `--wait`. */
export const withWait = (command: Command, event = 'the reply'): Command =>
  command.option('--wait [duration]', `wait for ${event}, at most this long (default ${MAX_WAIT_SECONDS}s)`)

/** The options of a call that may wait. */
export function waitOptionsOf({ wait }: WaitOptions): { readonly query?: { readonly wait: number } } {
  if (wait === undefined || wait === false) return {}
  if (wait === true) return { query: { wait: MAX_WAIT_SECONDS } }
  const query = seconds(wait, { option: '--wait', now: instant(0) }) as number
  if (query < 0 || query > MAX_WAIT_SECONDS)
    throw new UsageError(`Invalid --wait "${wait}". Allowed: 0s to ${MAX_WAIT_SECONDS}s`)
  return { query: { wait: query } }
}

/** Names with values, printed one per line. */
export type Facts = readonly (readonly [name: string, value: string | null])[]

/** Prints the response of the server as JSON. */
export const printJson = (call: CliCall, value: unknown): Promise<void> =>
  call.print(`${JSON.stringify(value, null, 2)}\n`)

/** Prints one line of a JSON stream. */
export const printJsonLine = (call: CliCall, value: unknown): Promise<void> => call.print(`${JSON.stringify(value)}\n`)

/** Prints one object: as JSON, or as names with values. */
export async function showOne(call: CliCall, value: unknown, facts: () => Facts): Promise<void> {
  await (call.json ? printJson(call, value) : call.print(renderFacts(facts(), call)))
}

/** Prints a result: as JSON, or as a sentence. */
export async function showResult(call: CliCall, value: unknown, sentence: string): Promise<void> {
  await (call.json ? printJson(call, value) : call.print(`${sentence}\n`))
}

/** Prints a page of a list: as JSON, or as a table. */
export async function showList<Row>(
  call: CliCall,
  page: Page<Row>,
  look: { readonly columns: readonly Column<Row>[]; readonly none: string },
): Promise<void> {
  if (call.json) {
    await printJson(call, page)
    return
  }
  if (page.items.length === 0) {
    await call.note(`${look.none}\n`)
    return
  }
  await call.print(renderTable(look.columns, page.items, call))
  if (page.next_cursor !== null) await call.note(`More results: --all, or --cursor ${page.next_cursor}\n`)
}

export interface PageOptions {
  readonly limit?: string
  readonly cursor?: string
  readonly all?: boolean
}

/** Adds the options of one page. */
export const withPage = (command: Command): Command =>
  command
    .option('--limit <n>', 'page size, 1 to 200 (default 20)')
    .option('--cursor <cursor>', 'continue after the previous page')

/** Adds the options of a list. */
export const withPages = (command: Command): Command => withPage(command).option('--all', 'list all pages')

type PageParameters = { readonly limit?: number; readonly cursor?: string }

const MAX_PAGE_ROWS = 200

/** Reads one page, or all pages with `--all`. */
export async function readPages<Row>(
  call: CliCall,
  options: PageOptions,
  read: (query: PageParameters) => Promise<Page<Row>>,
): Promise<Page<Row>> {
  const limit = options.limit === undefined ? undefined : readLimit(options.limit)
  const start = options.cursor === undefined ? {} : { cursor: options.cursor }
  if (options.all !== true) return read({ ...start, ...(limit === undefined ? {} : { limit }) })
  const items: Row[] = []
  let query: PageParameters = { limit: limit ?? MAX_PAGE_ROWS, ...start }
  for (;;) {
    const page = await read(query)
    addAll(items, page.items)
    if (page.next_cursor === null) break
    await call.note(`\rRead ${items.length} so far`)
    query = { ...query, cursor: page.next_cursor }
  }
  if (items.length > MAX_PAGE_ROWS) await call.note('\r\u001b[K')
  return { items, next_cursor: null }
}

function readLimit(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) < 1 || Number(text) > MAX_PAGE_ROWS)
    throw new UsageError(`Invalid --limit "${text}". Allowed: a whole number from 1 to ${MAX_PAGE_ROWS}`)
  return Number(text)
}

/** The option that limits a stream. */
export interface CountOptions {
  readonly count?: string
}

/** Adds `--count`. */
export const withCount = (command: Command): Command => command.option('--count <n>', 'stop after this many events')

/** The number of events after which to stop; without `--count`, infinite. */
export function countOf({ count }: CountOptions): number {
  if (count === undefined) return Number.POSITIVE_INFINITY
  if (!/^[1-9]\d{0,8}$/.test(count))
    throw new UsageError(`Invalid --count "${count}". Allowed: a whole number from 1 to 999999999`)
  return Number(count)
}
