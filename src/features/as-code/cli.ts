import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Command } from 'commander'
import type { ProblemError } from '../../api/problem.ts'
import { createStyle, type Style } from '../../cli/output/style.ts'
import { truncateText, manyLines, oneLine, valueText } from '../../cli/output/text.ts'
import { type CliContext, remote, type CliCall, UsageError } from '../../cli/remote/call.ts'
import { readFiles } from '../../cli/remote/files.ts'
import { printJson } from '../../cli/remote/show.ts'
import { EXIT, type ExitCode, isTerminal, write } from '../../cli/terminal.ts'
import { EscapementError } from '../../client/errors.ts'
import { AS_CODE_KINDS, type AsCodeKind } from '../../domain/as-code/compare.ts'
import type { AsCodeAction, AsCodeDocument, PlannedChange, PlannedItem, PlanView } from './schema.ts'
import { positionText, type ReadYaml, readYaml, writeYaml } from '../../platform/yaml/yaml.ts'

/** The kinds of `--kinds`, comma-separated; null: all. */
function kindsIn(text: string | undefined): readonly AsCodeKind[] | null {
  if (text === undefined) return null
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
  const unknown = words.find((word) => !AS_CODE_KINDS.some((kind) => kind === word))
  if (unknown !== undefined || words.length === 0)
    throw new UsageError(`Invalid --kinds "${unknown ?? text}". Allowed: ${AS_CODE_KINDS.join(', ')}`)
  return AS_CODE_KINDS.filter((kind) => words.includes(kind))
}

/** Cuts long lists of allowed values, such as all field names after an unknown field. */
const MAX_ALLOWED_LENGTH = 120

/** Formats flaws with their positions in the files. */
export function flawLines(
  flaws: readonly ProblemError[],
  placeOf: ReadYaml['positionOf'],
  style: Style,
): readonly string[] {
  return flaws.flatMap(({ pointer, message, allowed }) => {
    const position = placeOf(pointer)
    const where = position === null ? '' : `${positionText(position)} `
    return [
      `  ${style.bold(where)}${fieldText(pointer)} ${manyLines(message)}`,
      ...(allowed === undefined ? [] : [`    allowed: ${truncateText(oneLine(allowed), MAX_ALLOWED_LENGTH)}`]),
    ]
  })
}

/** Formats the pointer `/schedules/3/retry_policy/base_ms` as `schedules[3].retry_policy.base_ms`. */
function fieldText(pointer: string): string {
  const steps = pointer.split('/').slice(1)
  const plain = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~')
  const text = steps.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${plain(step)}`)).join('')
  return text === '' ? 'the document' : text.replace(/^\./, '')
}

/** The colors of a plan and the width its values are cut to; null: not cut. */
interface PlanColumns {
  readonly style: Style
  readonly width: number | null
}

const SIGNS: Readonly<Partial<Record<AsCodeAction, string>>> = { create: '+', update: '~', delete: '-' }

/** How many unmanaged objects are listed by name; the others are only counted. */
const MAX_NAMED = 5

/** Formats a plan or its result: a line for each changed object, and counts of the others. */
export function planLines(plan: PlanView, look: PlanColumns): readonly string[] {
  const lines = plan.items.flatMap((item) => itemLines(item, look))
  const { unchanged, unmanaged } = plan.counts
  if (unchanged > 0) lines.push(look.style.dim(`= ${unchanged} unchanged`))
  if (unmanaged > 0) lines.push(look.style.yellow(`? ${unmanagedText(plan)}`))
  return lines
}

/** The totals of a plan or of its result. */
export function planTotals({ applied, counts }: PlanView): string {
  const [made, changed, deleted] = [counts.create, counts.update, counts.delete]
  return applied
    ? `Applied: ${made} created, ${changed} updated, ${deleted} deleted.`
    : `Plan: ${made} to create, ${changed} to update, ${deleted} to delete.`
}

/** Whether applying the plan changes anything. */
export const hasChanges = ({ counts }: PlanView): boolean => counts.create + counts.update + counts.delete > 0

function unmanagedText({ items, counts }: PlanView): string {
  const names = items
    .filter(({ action }) => action === 'unmanaged')
    .slice(0, MAX_NAMED)
    .map(({ kind, name }) => `${kind} ${oneLine(name)}`)
  const more = counts.unmanaged > names.length ? ', …' : ''
  return `${counts.unmanaged} stored but not in the files: ${names.join(', ')}${more}`
}

function itemLines({ kind, name, action, changes }: PlannedItem, { style, width }: PlanColumns): readonly string[] {
  const sign = SIGNS[action]
  if (sign === undefined) return []
  const paint = { create: style.green, update: style.yellow, delete: style.red }[action as 'create']
  const head = `${paint(sign)} ${kind} ${style.bold(oneLine(name))}`
  if (action !== 'update') return [head]
  const texts = changes.map((change) => changeText(change, width))
  return texts.length === 1 ? [`${head}  ${texts.join('')}`] : [head, ...texts.map((text) => `    ${text}`)]
}

/** `cron: 0 9 * * * → 0 8 * * *`. */
function changeText({ field, before, after }: PlannedChange, width: number | null): string {
  const maxWidth = width === null ? Number.POSITIVE_INFINITY : Math.max(16, Math.floor((width - field.length - 10) / 2))
  return `${field}: ${shortValue(before, maxWidth)} → ${shortValue(after, maxWidth)}`
}

const shortValue = (value: unknown, maxWidth: number): string => {
  const text = typeof value === 'string' && /[\r\n]/.test(value) ? JSON.stringify(value) : valueText(value)
  return Number.isFinite(maxWidth) ? truncateText(oneLine(text), maxWidth) : oneLine(text)
}

interface ApplyOptions {
  readonly file: readonly string[]
  readonly plan?: boolean
  readonly prune?: boolean
  readonly expect?: string
  readonly exitCode?: boolean
  readonly kinds?: string
}

/** `escapement apply`: applies files. Never prompts, so that it runs in CI jobs. */
export function addApply(command: Command, cli: CliContext): void {
  command
    .option('-f, --file <file>', 'file or directory, repeatable; - reads stdin', addFile, [])
    .option('--plan', 'show what would change, without applying it')
    .option('--prune', 'delete stored objects that are not in the files, of the kinds they contain')
    .option('--expect <plan-id>', 'apply only if the plan still has this id')
    .option('--exit-code', 'with --plan: exit with code 4 if anything would change')
    .option('--kinds <kinds>', `apply only these kinds, comma-separated: ${AS_CODE_KINDS.join(', ')}`)
  remote<ApplyOptions>(cli, command, { work: (call, _, options) => apply(call, options) })
}

const addFile = (file: string, before: readonly string[]): readonly string[] => [...before, file]

async function apply(call: CliCall, options: ApplyOptions): Promise<ExitCode> {
  if (options.file.length === 0) throw new UsageError('Missing -f FILE: a YAML file, a directory, or - for stdin')
  if (options.exitCode === true && options.plan !== true) throw new UsageError('--exit-code requires --plan')
  const read = readYaml(await readFiles(call.terminal, options.file))
  if (!read.ok) throw new UsageError(read.flaws.map((flaw) => `${positionText(flaw)} ${flaw.message}`).join('\n'))
  const document = withSelectedKinds(read.value, options.kinds) as unknown as AsCodeDocument
  const query = { ...(options.prune === true && { prune: true }), ...(options.expect && { expect: options.expect }) }
  try {
    const { plan, apply: carryOut } = call.client.asCode
    return await printPlan(call, await (options.plan === true ? plan : carryOut)(document, { query }), {
      read,
      options,
    })
  } catch (error) {
    if (!(error instanceof EscapementError) || error.errors.length === 0) throw error
    return printRefusal(call, error, read)
  }
}

/** The document without the kinds that are not selected; the server validates the rest. */
function withSelectedKinds(document: ReadYaml['value'], kinds: string | undefined): Readonly<Record<string, unknown>> {
  const wanted = kindsIn(kinds)
  if (wanted === null) return document
  const left = AS_CODE_KINDS.filter((kind) => !wanted.includes(kind))
  return Object.fromEntries(Object.entries(document).filter(([name]) => !left.some((kind) => kind === name)))
}

interface ApplyContext {
  readonly read: ReadYaml
  readonly options: ApplyOptions
}

async function printPlan(call: CliCall, plan: PlanView, { read, options }: ApplyContext): Promise<ExitCode> {
  const flaws = plan.items.flatMap((item) => item.flaws)
  if (call.json) await printJson(call, plan)
  else {
    const lines = planLines(plan, call)
    const hint = !plan.applied && flaws.length === 0 && hasChanges(plan) ? [call.style.dim(expectHint(plan))] : []
    await call.print(`${[...lines, ...hint, planTotals(plan)].join('\n')}\n`)
  }
  if (flaws.length > 0) {
    const style = errorStyleOf(call)
    const text = ['The plan cannot be applied:', ...flawLines(flaws, read.positionOf, style)].join('\n')
    await write(call.terminal.stderr, `${text}\n`)
    return EXIT.refused
  }
  return options.exitCode === true && hasChanges(plan) ? EXIT.differs : EXIT.ok
}

const expectHint = (plan: PlanView): string =>
  `Nothing was changed. Apply exactly this plan with --expect ${plan.plan_id}.`

/** Prints an error of planning or applying; in both cases nothing was changed. */
async function printRefusal(
  call: CliCall,
  error: EscapementError,
  { positionOf: placeOf }: ReadYaml,
): Promise<ExitCode> {
  const style = errorStyleOf(call)
  const title = style.red(error.title ?? 'Refused')
  const lines = [`${title}:`, ...flawLines(error.errors, placeOf, style), '  Nothing was changed.']
  await write(call.terminal.stderr, `${lines.join('\n')}\n`)
  return EXIT.refused
}

const errorStyleOf = ({ terminal, environment }: CliCall): Style =>
  createStyle(environment.colours && isTerminal(terminal.stderr))

interface ExportOptions {
  readonly kinds?: string
  readonly output?: string
}

/** `escapement export`: writes stored objects as a file for `apply`. */
export function addExport(command: Command, cli: CliContext): void {
  command
    .option('--kinds <kinds>', `export only these kinds, comma-separated: ${AS_CODE_KINDS.join(', ')}`)
    .option('-o, --output <file>', 'write to this file, overwriting it')
  remote<ExportOptions>(cli, command, {
    work: async (call, _, options) => {
      const kinds = kindsIn(options.kinds)
      const document = await call.client.asCode.export(kinds === null ? {} : { kinds: kinds.join(',') })
      const text = call.json ? `${JSON.stringify(document, null, 2)}\n` : asYaml(call, document)
      await (options.output === undefined ? call.print(text) : writeExport(call, options.output, { text, document }))
    },
  })
}

/** The first line names the JSON schema for editors. */
const asYaml = ({ url }: CliCall, document: AsCodeDocument): string =>
  writeYaml(document, {
    comment: [`yaml-language-server: $schema=${url}/schema/escapement.schema.json`],
  })

interface ExportedDocument {
  readonly text: string
  readonly document: AsCodeDocument
}

async function writeExport(call: CliCall, file: string, { text, document }: ExportedDocument): Promise<void> {
  await writeFile(path.resolve(call.terminal.cwd ?? process.cwd(), file), text).catch((error: unknown) => {
    throw new UsageError(`Cannot write ${file}: ${error instanceof Error ? error.message : String(error)}`)
  })
  const counts = AS_CODE_KINDS.flatMap((kind) =>
    document[kind] === undefined ? [] : [`${document[kind].length} ${kind}`],
  )
  await call.note(`${file}: ${counts.join(', ')}\n`)
}
