import type { Command } from 'commander'
import type { Page } from '../../api/page.ts'
import { addAll } from '../../domain/long-lists.ts'
import { renderFacts, renderTable, type Column } from '../output/table.ts'
import type { Talk } from './talk.ts'
import { UsageError } from './usage.ts'

/** Names with values below each other. */
export type Facts = readonly (readonly [name: string, value: string | null])[]

/** One JSON document, as it came from the server. */
export const printJson = (talk: Talk, value: unknown): Promise<void> =>
  talk.print(`${JSON.stringify(value, null, 2)}\n`)

/** One JSON document in one line, where more of them follow. */
export const printJsonLine = (talk: Talk, value: unknown): Promise<void> => talk.print(`${JSON.stringify(value)}\n`)

/** Shows one thing: as JSON, or as a person wants to see it. */
export async function showOne(talk: Talk, value: unknown, facts: () => Facts): Promise<void> {
  await (talk.json ? printJson(talk, value) : talk.print(renderFacts(facts(), talk)))
}

/** Tells that something was done: as JSON, or in a sentence. */
export async function showDone(talk: Talk, value: unknown, sentence: string): Promise<void> {
  await (talk.json ? printJson(talk, value) : talk.print(`${sentence}\n`))
}

/** Shows a page of a list. */
export async function showList<Row>(
  talk: Talk,
  page: Page<Row>,
  look: { readonly columns: readonly Column<Row>[]; readonly none: string },
): Promise<void> {
  if (talk.json) {
    await printJson(talk, page)
    return
  }
  if (page.items.length === 0) {
    await talk.note(`${look.none}\n`)
    return
  }
  await talk.print(renderTable(look.columns, page.items, talk))
  if (page.next_cursor !== null) await talk.note(`There is more: --all, or --cursor ${page.next_cursor}\n`)
}

export interface PageOptions {
  readonly limit?: string
  readonly cursor?: string
  readonly all?: boolean
}

/** The options of one page. */
export const withPage = (command: Command): Command =>
  command
    .option('--limit <n>', 'page size, 1 to 200 (default 20)')
    .option('--cursor <cursor>', 'continue after an earlier page')

/** The options of a list. */
export const withPages = (command: Command): Command => withPage(command).option('--all', 'all pages')

type AskedPage = { readonly limit?: number; readonly cursor?: string }

const LONGEST_PAGE = 200

/** Reads the page that is asked for, or all of them. */
export async function readPages<Row>(
  talk: Talk,
  options: PageOptions,
  read: (asked: AskedPage) => Promise<Page<Row>>,
): Promise<Page<Row>> {
  const limit = options.limit === undefined ? undefined : readLimit(options.limit)
  const start = options.cursor === undefined ? {} : { cursor: options.cursor }
  if (options.all !== true) return read({ ...start, ...(limit === undefined ? {} : { limit }) })
  const items: Row[] = []
  let asked: AskedPage = { limit: limit ?? LONGEST_PAGE, ...start }
  for (;;) {
    const page = await read(asked)
    addAll(items, page.items)
    if (page.next_cursor === null) break
    await talk.note(`\r${items.length} so far`)
    asked = { ...asked, cursor: page.next_cursor }
  }
  if (items.length > LONGEST_PAGE) await talk.note('\r\u001b[K')
  return { items, next_cursor: null }
}

function readLimit(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) < 1 || Number(text) > LONGEST_PAGE)
    throw new UsageError(`--limit "${text}" must be a whole number. Allowed: 1 to ${LONGEST_PAGE}`)
  return Number(text)
}
